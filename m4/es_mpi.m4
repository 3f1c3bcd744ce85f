# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# es_mpi.m4 - finds the MPI through its compiler wrapper.

# ES_MPI_FLAVOUR(VARIABLE, COMMAND) - asks an MPI launcher or compiler whose it is.
AC_DEFUN([ES_MPI_FLAVOUR], [
  AS_CASE([`$2 2>&1 </dev/null`],
    [*Open?MPI*|*OpenRTE*|*OMPI*|*openmpi*], [$1=openmpi],
    [*HYDRA*|*MPICH*|*mpich*|*Intel*], [$1=mpich],
    [$1=unknown])
])

# ES_MPI_INCLUDE_FLAGS - MPI_CPPFLAGS: the include options of $MPICC, nothing of its
# libraries, because the preload library must not be tied to one libmpi by name.
AC_DEFUN([ES_MPI_INCLUDE_FLAGS], [
  AC_MSG_CHECKING([where mpi.h is])
  es_show=`$MPICC -show 2>/dev/null` || es_show=`$MPICC --showme 2>/dev/null`
  MPI_CPPFLAGS=
  for es_word in $es_show; do
    AS_CASE([$es_word], [-I*], [
      AS_CASE([" $MPI_CPPFLAGS "], [*" $es_word "*], [],
        [MPI_CPPFLAGS="$MPI_CPPFLAGS${MPI_CPPFLAGS:+ }$es_word"])])
  done
  AC_MSG_RESULT([${MPI_CPPFLAGS:-on the compiler's own path}])
])

# ES_MPI_TRY_C - compiles and links one MPI program with $MPICC.
AC_DEFUN([ES_MPI_TRY_C], [
  AC_MSG_CHECKING([whether $MPICC links an MPI program])
  es_saved_CC=$CC
  CC=$MPICC
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
      [[MPI_Init(0, 0); MPI_Finalize();]])], [es_mpi_works=yes], [es_mpi_works=no])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
      [[#ifndef OPEN_MPI
        #error not Open MPI
        #endif]])], [es_mpicc_flavour=openmpi], [es_mpicc_flavour=mpich])
  CC=$es_saved_CC
  AC_MSG_RESULT([$es_mpi_works])
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

# ES_CHECK_MPI - sets MPICC, MPIFC, MPIEXEC, MPI_CPPFLAGS, HAVE_MPI and HAVE_MPIFORT.
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
    AC_PATH_PROGS([MPICC], [mpicc], [], [$es_mpi_path])
    AC_PATH_PROGS([MPIEXEC], [mpiexec mpiexec.hydra mpirun], [], [$es_mpi_path])
    AC_PATH_PROGS([MPIFC], [mpifort mpif90], [], [$es_mpi_path])
    AS_IF([test -z "$MPICC"],
        [ES_MISSING([an MPI: no mpicc in $es_mpi_path; --with-mpi=DIR names another place, --with-mpi=no builds without], [mpich libmpich-dev])],
      [ES_MPI_TRY_C
       AS_IF([test "x$es_mpi_works" = xno],
         [ES_MISSING([a working MPI: $MPICC compiles no program that includes mpi.h (config.log says why)], [libmpich-dev])])])
    AS_IF([test -z "$MPIEXEC" && test -n "$MPICC"],
      [ES_MISSING([an MPI launcher: no mpiexec in $es_mpi_path], [mpich])])
  ])
  AS_IF([test "x$es_mpi_works" = xyes && test -n "$MPIEXEC"], [ES_MPI_ACCEPT])
  AM_CONDITIONAL([HAVE_MPI], [test "x$es_mpi_works" = xyes])
  AM_CONDITIONAL([HAVE_MPIFORT], [test "x$es_mpifort_works" = xyes])
  AC_SUBST([MPI_CPPFLAGS])
])

# ES_MPI_SAME - a shell condition: compiler and launcher are of one MPI.
m4_define([ES_MPI_SAME], [test "$es_mpicc_flavour" = "$es_mpiexec_flavour" || test "$es_mpiexec_flavour" = unknown])

# ES_MPI_TRY_DEBIAN_MPICH - Debian keeps MPICH's commands under these names, whoever has
# taken the plain ones.
AC_DEFUN([ES_MPI_TRY_DEBIAN_MPICH], [
  AS_IF([test -x "$MPICC.mpich" && test -x "${MPIEXEC%/*}/mpiexec.mpich"], [
    AC_MSG_NOTICE([$MPICC and $MPIEXEC are of two MPIs: taking MPICH's own commands])
    MPICC=$MPICC.mpich
    MPIEXEC=${MPIEXEC%/*}/mpiexec.mpich
    MPIFC=
    AS_IF([test -x "${MPICC%/*}/mpifort.mpich"], [MPIFC=${MPICC%/*}/mpifort.mpich])
    ES_MPI_TRY_C
    ES_MPI_FLAVOUR([es_mpiexec_flavour], [$MPIEXEC --version])])
])

# ES_MPI_BUILD_CC - MPI_BUILD_CC: the wrapper around the compiler that all else is built
# with, for our own MPI programs (sanitizers and warnings are those of $CC).
AC_DEFUN([ES_MPI_BUILD_CC], [
  AS_CASE([$es_mpicc_flavour],
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
  AS_IF([ES_MPI_SAME], [AC_MSG_RESULT([yes, $es_mpicc_flavour])],
    [AC_MSG_RESULT([no])
     ES_MPI_TRY_DEBIAN_MPICH])
  AS_IF([ES_MPI_SAME], [], [
     AC_MSG_ERROR([$MPICC is of $es_mpicc_flavour, but $MPIEXEC is of $es_mpiexec_flavour.
  Choose one MPI with --with-mpi=DIR or MPICC=... MPIEXEC=..., or, on Debian and Ubuntu:
    update-alternatives --config mpi
    update-alternatives --config mpirun])])
  ES_MPI_INCLUDE_FLAGS
  AS_IF([test -n "$MPIFC"], [
    ES_MPI_FLAVOUR([es_mpifort_flavour], [$MPIFC -show])
    AS_IF([test "$es_mpifort_flavour" != "$es_mpicc_flavour" && test "$es_mpifort_flavour" != unknown],
      [AC_MSG_WARN([$MPIFC is of $es_mpifort_flavour, but $MPICC is of $es_mpicc_flavour: going without Fortran])],
      [ES_MPI_TRY_FC])])
  AC_DEFINE([HAVE_MPI], [1], [Define if an MPI was found.])
  # The statuses of the MPICH ABI (MPICH, Intel MPI, Cray MPI ...) hold the byte count.
  es_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
  AC_CHECK_MEMBERS([MPI_Status.count_lo], [], [], [[#include <mpi.h>]])
  CPPFLAGS=$es_saved_CPPFLAGS
  ES_MPI_BUILD_CC
  es_mpi_summary="$es_mpicc_flavour ($MPICC, $MPIEXEC)"
  AS_IF([test "x$es_mpifort_works" = xyes], [
    AC_DEFINE([HAVE_MPIFORT], [1], [Define if the MPI has the Fortran bindings.])
    es_mpifort_summary=$MPIFC],
    [es_mpifort_summary="no (Debian/Ubuntu packages gfortran libmpich-dev)"])
])
