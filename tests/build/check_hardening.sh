#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_hardening.sh - the built programs and libraries have the protections that the
# compiler supports.

set -u

if [ "$ES_HARDENING" != yes ]; then
    echo "skipped: built with sanitizers or --disable-hardening"
    exit 77
fi
failed=0

fail() { # FILE WHAT
    echo "${1#"$top_builddir"/}: $2"
    failed=1
}

# has FLAG - configure has found that FLAG is accepted.
has() {
    case " $ES_HARDENING_FLAGS " in
    *" $1 "*) return 0 ;;
    *) return 1 ;;
    esac
}

check_file() { # FILE
    local dynamic segments symbols notes
    dynamic=$(readelf -dW "$1")
    segments=$(readelf -lW "$1")
    symbols=$(readelf --dyn-syms -W "$1")
    notes=$(readelf -nW "$1" 2>/dev/null)
    if has -Wl,-z,relro; then
        grep -q GNU_RELRO <<<"$segments" || fail "$1" 'no read-only relocations'
    fi
    if has -Wl,-z,now; then
        grep -Eq 'BIND_NOW|Flags:.* NOW' <<<"$dynamic" || fail "$1" 'binds lazily'
    fi
    grep -Eq 'GNU_STACK.* RWE' <<<"$segments" && fail "$1" 'its stack can be executed'
    if has -fstack-protector-strong; then
        grep -q __stack_chk_fail <<<"$symbols" || fail "$1" 'no stack protector'
    fi
    if has -D_FORTIFY_SOURCE=2; then
        grep -Eq ' __[a-z]+_chk@' <<<"$symbols" || fail "$1" 'no checked string functions'
    fi
    # All object files need this mark, including the start-up code of the system.
    if has -fcf-protection && grep -q IBT <<<"$(readelf -nW "$crt" 2>/dev/null)"; then
        grep -q IBT <<<"$notes" || fail "$1" 'indirect branches are not marked'
    fi
}

crt=$($CC -print-file-name=crt1.o)
files=0
for name in .libs/libeventspace.so wrappers/mpi/.libs/libeventspace-mpi.so \
    cli/.libs/eventspace cli/.libs/eventspaced cli/eventspace cli/eventspaced; do
    file=$top_builddir/$name
    # libtool builds a program in .libs if it would not find its libraries elsewhere.
    [ "$(head -c 4 "$file" 2>/dev/null | tr -d '\0')" = $'\177ELF' ] || continue
    files=$((files + 1))
    check_file "$file"
    readelf -hW "$file" | grep -Eq 'Type: +DYN' || fail "$file" 'not at random addresses'
done
[ $files -ge 3 ] || {
    echo "found $files programs and libraries only"
    failed=1
}

# A large local array shows whether the compiler probes each page of the stack.
if has -fstack-clash-protection; then
    probe='void use(char *); void take(void) { char a[65536]; use(a); }'
    # shellcheck disable=SC2086 # words
    echo "$probe" | $CC -O2 $ES_HARDENING_FLAGS -S -x c -o - - 2>/dev/null >probed.s
    echo "$probe" | $CC -O2 -fno-stack-clash-protection -S -x c -o - - >plain.s
    if cmp -s probed.s plain.s; then
        echo "-fstack-clash-protection changes nothing"
        failed=1
    fi
    rm -f probed.s plain.s
fi
exit $failed
