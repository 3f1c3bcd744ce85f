# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# es_compiler.m4 - language level, warnings, sanitizers and hardening.

# ES_TRY_FLAG(FLAG, IF-ACCEPTED, [IF-NOT]) - does the C compiler take FLAG silently?
AC_DEFUN([ES_TRY_FLAG], [
  AC_MSG_CHECKING([whether $CC accepts $1])
  es_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [es_flag_ok=yes], [es_flag_ok=no])
  CFLAGS=$es_saved_CFLAGS
  AC_MSG_RESULT([$es_flag_ok])
  AS_IF([test "x$es_flag_ok" = xyes], [$2], [$3])
])

# ES_CHECK_C17 - C17 with the GNU extensions and the GNU/Linux interfaces.
AC_DEFUN([ES_CHECK_C17], [
  ES_TRY_FLAG([-std=gnu17], [ES_STD_CFLAGS=-std=gnu17],
    [AC_MSG_ERROR([$CC knows no -std=gnu17: use gcc 8, clang 7 or newer])])
  AC_SUBST([ES_STD_CFLAGS])
])

# ES_CHECK_WARNINGS - the warnings that the project is kept free of.
AC_DEFUN([ES_CHECK_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [], [enable_werror=no])
  ES_WARNING_CFLAGS=
  m4_foreach_w([es_flag],
    [-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
     -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wwrite-strings
     -Wvla -Wformat=2 -Wno-format-nonliteral -Wundef -Wredundant-decls],
    [ES_TRY_FLAG(es_flag, [ES_WARNING_CFLAGS="$ES_WARNING_CFLAGS es_flag"])])
  AS_IF([test "x$enable_werror" = xyes],
    [ES_WARNING_CFLAGS="$ES_WARNING_CFLAGS -Werror"])
  AC_SUBST([ES_WARNING_CFLAGS])
])

# ES_CHECK_SANITIZERS - builds that check themselves, and fuzz targets.
AC_DEFUN([ES_CHECK_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
      [build with sanitizers: address,undefined (default) or thread])],
    [], [enable_sanitizers=no])
  AC_ARG_ENABLE([fuzzers],
    [AS_HELP_STRING([--enable-fuzzers],
      [build the fuzz targets with libFuzzer (needs clang)])],
    [], [enable_fuzzers=no])
  AS_CASE([$enable_sanitizers],
    [no], [es_sanitizers=],
    [yes], [es_sanitizers=address,undefined],
    [es_sanitizers=$enable_sanitizers])
  AS_IF([test "x$enable_fuzzers" = xyes && test -z "$es_sanitizers"],
    [es_sanitizers=address,undefined])
  ES_SANITIZER_CFLAGS=
  AS_IF([test -n "$es_sanitizers"], [
    es_flags="-fsanitize=$es_sanitizers -fno-omit-frame-pointer"
    AS_CASE([,$es_sanitizers,], [*,undefined,*],
      [es_flags="$es_flags -fno-sanitize-recover=undefined"])
    dnl gcc's thread sanitizer says of every fence that it sees only half of it.
    AS_CASE([,$es_sanitizers,], [*,thread,*],
      [ES_TRY_FLAG([-Wno-tsan], [es_flags="$es_flags -Wno-tsan"])])
    ES_TRY_FLAG([$es_flags], [ES_SANITIZER_CFLAGS=$es_flags],
      [AC_MSG_ERROR([$CC cannot build with -fsanitize=$es_sanitizers: its run-time library is missing (Debian/Ubuntu: gcc brings it; for clang libclang-rt-dev)])])])
  FUZZER_LDFLAGS=
  AS_IF([test "x$enable_fuzzers" = xyes], [
    ES_TRY_FLAG([-fsanitize=fuzzer-no-link],
      [ES_SANITIZER_CFLAGS="$ES_SANITIZER_CFLAGS -fsanitize=fuzzer-no-link"
       FUZZER_LDFLAGS=-fsanitize=fuzzer],
      [AC_MSG_ERROR([--enable-fuzzers needs clang with libFuzzer: CC=clang (Debian/Ubuntu packages clang libclang-rt-dev)])])])
  AC_SUBST([ES_SANITIZERS], [$es_sanitizers])
  AC_SUBST([ES_SANITIZER_CFLAGS])
  AC_SUBST([FUZZER_LDFLAGS])
  AM_CONDITIONAL([ENABLE_FUZZERS], [test "x$enable_fuzzers" = xyes])
  AM_CONDITIONAL([ENABLE_SANITIZERS], [test -n "$es_sanitizers"])
])

# ES_TRY_LINK_FLAG(FLAG) - adds FLAG to ES_HARDENING_LDFLAGS if the linker takes it.
AC_DEFUN([ES_TRY_LINK_FLAG], [
  ES_TRY_FLAG([$1], [ES_HARDENING_LDFLAGS="$ES_HARDENING_LDFLAGS $1"])
])

# ES_CHECK_FORTIFY - checked string functions, where the build optimises.  Whoever has
# chosen a level himself keeps it.
AC_DEFUN([ES_CHECK_FORTIFY], [
  AC_MSG_CHECKING([for checked string functions])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if defined _FORTIFY_SOURCE || !defined __OPTIMIZE__
#error not here
#endif
]], [])],
    [ES_HARDENING_CFLAGS="$ES_HARDENING_CFLAGS -D_FORTIFY_SOURCE=2"
     es_fortify=yes],
    [es_fortify="as the flags of the build say"])
  AC_MSG_RESULT([$es_fortify])
])

# ES_CHECK_PIE - programs at random addresses, where the compiler does not do so by itself.
AC_DEFUN([ES_CHECK_PIE], [
  AC_MSG_CHECKING([whether $CC makes position-independent programs])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#ifndef __PIE__
#error not by itself
#endif
]], [])], [es_pie=yes], [es_pie=no])
  AC_MSG_RESULT([$es_pie])
  AS_IF([test $es_pie = no],
    [ES_TRY_FLAG([-fPIE -pie],
      [ES_HARDENING_CFLAGS="$ES_HARDENING_CFLAGS -fPIE" ES_PIE_LDFLAGS=-pie])])
])

# ES_CHECK_HARDENING - what makes a fault in the code harder to use.  Comes after
# ES_CHECK_SANITIZERS: a build that checks itself goes without.
AC_DEFUN([ES_CHECK_HARDENING], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening],
      [build without stack protector, checked string functions, full RELRO, PIE])],
    [], [enable_hardening=yes])
  AS_IF([test -n "$es_sanitizers"], [enable_hardening=no])
  ES_HARDENING_CFLAGS=
  ES_HARDENING_LDFLAGS=
  ES_PIE_LDFLAGS=
  ES_RECORD_CFLAGS=
  AS_IF([test "x$enable_hardening" != xno], [
    enable_hardening=yes
    m4_foreach_w([es_flag],
      [-fstack-protector-strong -fstack-clash-protection -fcf-protection],
      [ES_TRY_FLAG(es_flag, [ES_HARDENING_CFLAGS="$ES_HARDENING_CFLAGS es_flag"])])
    AS_CASE([$ES_HARDENING_CFLAGS], [*-fstack-protector*],
      [ES_RECORD_CFLAGS=-fno-stack-protector])
    ES_CHECK_FORTIFY
    ES_CHECK_PIE
    ES_TRY_LINK_FLAG([-Wl,-z,relro])
    ES_TRY_LINK_FLAG([-Wl,-z,now])
    ES_TRY_LINK_FLAG([-Wl,-z,noexecstack])])
  AC_SUBST([ES_HARDENING], [$enable_hardening])
  AC_SUBST([ES_HARDENING_CFLAGS])
  AC_SUBST([ES_HARDENING_LDFLAGS])
  AC_SUBST([ES_PIE_LDFLAGS])
  dnl For the path of an operation in the observed process.
  AC_SUBST([ES_RECORD_CFLAGS])
])
