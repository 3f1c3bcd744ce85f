# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# es_mpi.m4 - finds each MPI through its compiler wrapper.

# ES_MPI_FLAVOUR(VARIABLE, COMMAND) - asks an MPI launcher or compiler whose it is.
AC_DEFUN([ES_MPI_FLAVOUR], [
  AS_CASE([`$2 2>&1 </dev/null`],
    [*Open?MPI*|*OpenRTE*|*OMPI*|*openmpi*], [$1=openmpi],
    [*HYDRA*|*MPICH*|*mpich*|*Intel*], [$1=mpich],
    [$1=unknown])
])

# ES_MPI_INCLUDE_FLAGS(VARIABLE, MPICC) - the include options of a wrapper, nothing of its
# libraries, because the preload library must not be tied to one libmpi by name.
AC_DEFUN([ES_MPI_INCLUDE_FLAGS], [
  AC_MSG_CHECKING([where mpi.h of $2 is])
  es_show=`$2 -show 2>/dev/null` || es_show=`$2 --showme 2>/dev/null`
  $1=
  for es_word in $es_show; do
    AS_CASE([$es_word], [-I*], [
      AS_CASE([" $$1 "], [*" $es_word "*], [],
        [$1="$$1${$1:+ }$es_word"])])
  done
  AC_MSG_RESULT([${$1:-on the compiler's own path}])
  AC_SUBST([$1])
])

# ES_MPI_TRY_C(MPICC, WORKS, FLAVOUR) - compiles and links one MPI program with a wrapper;
# sets two variables.
AC_DEFUN([ES_MPI_TRY_C], [
  AC_MSG_CHECKING([whether $1 links an MPI program])
  es_saved_CC=$CC
  CC=$1
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
      [[MPI_Init(0, 0); MPI_Finalize();]])], [$2=yes], [$2=no])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
      [[#ifndef OPEN_MPI
        #error not Open MPI
        #endif]])], [$3=openmpi], [$3=mpich])
  CC=$es_saved_CC
  AC_MSG_RESULT([$$2])
])

# ES_MPI_TRY_FC - compiles and links one program with the modern Fortran binding.
AC_DEFUN([ES_MPI_TRY_FC], [
  AC_MSG_CHECKING([whether $MPIFC links an MPI program])
  cat >conftest.f90 <<_ACEOF
program conftest
  use mpi_f08
  call MPI_Init()
  call MPI_Finalize()
end program
_ACEOF
  AS_IF([AC_TRY_COMMAND([$MPIFC $FCFLAGS -o conftest.exe conftest.f90 >&AS_MESSAGE_LOG_FD])],
    [es_mpifort_works=yes], [es_mpifort_works=no])
  rm -f conftest.f90 conftest.exe conftest.mod
  AC_MSG_RESULT([$es_mpifort_works])
])

# ES_CHECK_MPI - sets MPICC, MPIFC, MPIEXEC, MPI_CPPFLAGS, HAVE_MPI, HAVE_MPIFORT, and
# ES_MPI, which is mpich (or one of its kin) or openmpi.
AC_DEFUN([ES_CHECK_MPI], [
  AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi=DIR|no],
      [use the MPI whose mpicc is in DIR/bin @<:@the one in PATH@:>@, or none])],
    [], [with_mpi=yes])
  AC_ARG_VAR([MPICC], [MPI C compiler wrapper])
  AC_ARG_VAR([MPIFC], [MPI Fortran compiler wrapper])
  AC_ARG_VAR([MPIEXEC], [MPI program launcher])
  es_mpi_works=no
  es_mpifort_works=no
  es_mpi_summary=no
  es_mpifort_summary=no
  AS_IF([test "x$with_mpi" = xno], [
    MPICC= MPIFC= MPIEXEC=
  ], [
    AS_IF([test "x$with_mpi" = xyes], [es_mpi_path=$PATH],
      [es_mpi_path=$with_mpi/bin$PATH_SEPARATOR$with_mpi])
    # Debian keeps MPICH's commands under names of their own, whoever has the plain ones.
    AS_IF([test -z "$MPICC"], [AC_PATH_PROG([es_mpich], [mpicc.mpich], [], [$es_mpi_path])])
    AS_IF([test -n "$es_mpich" && test -x "${es_mpich%/*}/mpiexec.mpich"], [
      MPICC=$es_mpich
      : ${MPIEXEC=${MPICC%/*}/mpiexec.mpich}
      AS_IF([test -x "${MPICC%/*}/mpifort.mpich"], [: ${MPIFC=${MPICC%/*}/mpifort.mpich}])])
    AC_PATH_PROGS([MPICC], [mpicc], [], [$es_mpi_path])
    AC_PATH_PROGS([MPIEXEC], [mpiexec mpiexec.hydra mpirun], [], [$es_mpi_path])
    AC_PATH_PROGS([MPIFC], [mpifort mpif90], [], [$es_mpi_path])
    AS_IF([test -z "$MPICC"],
        [ES_MISSING([an MPI: no mpicc in $es_mpi_path; --with-mpi=DIR names another place, --with-mpi=no builds without], [mpich libmpich-dev])],
      [ES_MPI_TRY_C([$MPICC], [es_mpi_works], [ES_MPI])
       AS_IF([test "x$es_mpi_works" = xno],
         [ES_MISSING([a working MPI: $MPICC compiles no program that includes mpi.h (config.log says why)], [libmpich-dev])])])
    AS_IF([test -z "$MPIEXEC" && test -n "$MPICC"],
      [ES_MISSING([an MPI launcher: no mpiexec in $es_mpi_path], [mpich])])
  ])
  AS_IF([test "x$es_mpi_works" = xyes && test -n "$MPIEXEC"], [ES_MPI_ACCEPT])
  AM_CONDITIONAL([HAVE_MPI], [test "x$es_mpi_works" = xyes])
  AM_CONDITIONAL([HAVE_MPIFORT], [test "x$es_mpifort_works" = xyes])
  AC_SUBST([MPI_CPPFLAGS])
  AC_SUBST([ES_MPI])
  ES_CHECK_OPENMPI
])

# ES_CHECK_OPENMPI - a second MPI, for which the interposer is built, too: sets
# OPENMPI_MPICC, OPENMPI_MPIFC, OPENMPI_MPIEXEC, OPENMPI_CPPFLAGS and HAVE_OPENMPI.
AC_DEFUN([ES_CHECK_OPENMPI], [
  AC_ARG_WITH([openmpi],
    [AS_HELP_STRING([--with-openmpi=MPICC|no],
      [collect programs of Open MPI, too, whose compiler is MPICC @<:@mpicc.openmpi@:>@])],
    [], [with_openmpi=yes])
  es_openmpi_works=no
  es_openmpi_summary=no
  OPENMPI_MPICC=
  AS_IF([test "x$es_mpi_works" = xno || test "x$ES_MPI" = xopenmpi], [with_openmpi=no])
  AS_CASE([$with_openmpi],
    [no], [],
    [yes], [AC_PATH_PROG([OPENMPI_MPICC], [mpicc.openmpi])
            es_openmpi_summary="no (Debian/Ubuntu package libopenmpi-dev)"],
    [*/*], [AS_IF([test -x "$with_openmpi"], [OPENMPI_MPICC=$with_openmpi])],
    [AC_PATH_PROG([OPENMPI_MPICC], [$with_openmpi])])
  AS_CASE([$with_openmpi], [yes|no], [],
    [AS_IF([test -z "$OPENMPI_MPICC"],
       [AC_MSG_ERROR([--with-openmpi=$with_openmpi: there is no such compiler])])])
  AS_IF([test -n "$OPENMPI_MPICC"], [ES_OPENMPI_ACCEPT])
  AM_CONDITIONAL([HAVE_OPENMPI], [test "x$es_openmpi_works" = xyes])
  AM_CONDITIONAL([HAVE_OPENMPI_FORT], [test -n "$OPENMPI_MPIFC"])
  AC_SUBST([OPENMPI_MPICC])
  AC_SUBST([OPENMPI_MPIEXEC])
  AC_SUBST([OPENMPI_MPIFC])
])

# ES_OPENMPI_ACCEPT - tries $OPENMPI_MPICC. Its launcher and its Fortran compiler lie beside
# it and are called as it is: mpicc.openmpi and mpiexec.openmpi.
AC_DEFUN([ES_OPENMPI_ACCEPT], [
  ES_MPI_TRY_C([$OPENMPI_MPICC], [es_openmpi_works], [es_openmpi_flavour])
  AS_IF([test "$es_openmpi_works $es_openmpi_flavour" != "yes openmpi"],
    [AC_MSG_ERROR([$OPENMPI_MPICC is no working compiler of Open MPI (config.log says why);
  --with-openmpi=MPICC names another, --with-openmpi=no builds without])])
  ES_MPI_INCLUDE_FLAGS([OPENMPI_CPPFLAGS], [$OPENMPI_MPICC])
  es_suffix=${OPENMPI_MPICC##*/mpicc}
  OPENMPI_MPIEXEC=${OPENMPI_MPICC%/*}/mpiexec$es_suffix
  OPENMPI_MPIFC=${OPENMPI_MPICC%/*}/mpifort$es_suffix
  AS_IF([test ! -x "$OPENMPI_MPIFC"], [OPENMPI_MPIFC=])
  es_openmpi_summary="$OPENMPI_MPICC, $OPENMPI_MPIEXEC"
])

# ES_MPI_SAME - a shell condition: compiler and launcher are of one MPI.
m4_define([ES_MPI_SAME], [test "$ES_MPI" = "$es_mpiexec_flavour" || test "$es_mpiexec_flavour" = unknown])

# ES_MPI_BUILD_CC - MPI_BUILD_CC: the wrapper around the compiler that all else is built
# with, for our own MPI programs (sanitizers and warnings are those of $CC).
AC_DEFUN([ES_MPI_BUILD_CC], [
  AS_CASE([$ES_MPI],
    [openmpi], [MPI_BUILD_CC="env OMPI_CC='$CC' $MPICC"],
    [AS_IF([test -n "`$MPICC -cc=$CC -show 2>/dev/null`"],
      [MPI_BUILD_CC="$MPICC -cc=$CC"], [MPI_BUILD_CC=$MPICC])])
  AC_SUBST([MPI_BUILD_CC])
])

# ES_MPI_ACCEPT - checks that the parts belong to one MPI, and finds its details.
# Packages that bring a second MPI may take over the names mpicc and mpiexec singly.
AC_DEFUN([ES_MPI_ACCEPT], [
  AC_MSG_CHECKING([whether $MPICC and $MPIEXEC belong together])
  ES_MPI_FLAVOUR([es_mpiexec_flavour], [$MPIEXEC --version])
  AS_IF([ES_MPI_SAME], [AC_MSG_RESULT([yes, $ES_MPI])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$MPICC is of $ES_MPI, but $MPIEXEC is of $es_mpiexec_flavour.
  Choose one MPI with --with-mpi=DIR or MPICC=... MPIEXEC=..., or, on Debian and Ubuntu:
    update-alternatives --config mpi
    update-alternatives --config mpirun])])
  ES_MPI_INCLUDE_FLAGS([MPI_CPPFLAGS], [$MPICC])
  AS_IF([test -n "$MPIFC"], [
    ES_MPI_FLAVOUR([es_mpifort_flavour], [$MPIFC -show])
    AS_IF([test "$es_mpifort_flavour" != "$ES_MPI" && test "$es_mpifort_flavour" != unknown],
      [AC_MSG_WARN([$MPIFC is of $es_mpifort_flavour, but $MPICC is of $ES_MPI: going without Fortran])],
      [ES_MPI_TRY_FC])])
  AC_DEFINE([HAVE_MPI], [1], [Define if an MPI was found.])
  # The statuses of the MPICH ABI (MPICH, Intel MPI, Cray MPI ...) hold the byte count.
  es_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
  AC_CHECK_MEMBERS([MPI_Status.count_lo], [], [], [[#include <mpi.h>]])
  CPPFLAGS=$es_saved_CPPFLAGS
  ES_MPI_BUILD_CC
  es_mpi_summary="$ES_MPI ($MPICC, $MPIEXEC)"
  AS_IF([test "x$es_mpifort_works" = xyes], [
    AC_DEFINE([HAVE_MPIFORT], [1], [Define if the MPI has the Fortran bindings.])
    es_mpifort_summary=$MPIFC],
    [es_mpifort_summary="no (Debian/Ubuntu packages gfortran libmpich-dev)"])
])
