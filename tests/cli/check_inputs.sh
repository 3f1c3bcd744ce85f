#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_inputs.sh - what is no text in UTF-8 is named by every command that reads a file
# of a user: compressed files, byte order marks, UTF-16, programs.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/functions.sh"
python=${PYTHON:-python3}

cat >"$folder/set" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["0.0", "1.0"]}
{"trace": 0, "index": 1, "kind": "send"}
{"trace": 1, "index": 1, "kind": "receive", "partners": [[0, 1]]}
END
printf 'A := ["", "", ""];\nP := A -> A;\n' >"$folder/patterns"
echo '{"version": 1}' >"$folder/map"
printf 'h1 slots=2\nh2\n' >"$folder/hosts"
printf 'x\na {"a":1}\n' >"$folder/log"
printf '0.0:1 1.0:1\n' >"$folder/questions"

"$python" - "$folder" <<'END' || exit 1
import bz2, gzip, lzma, sys, zipfile
for name in ("set", "patterns", "map", "hosts", "log", "questions"):
    path = f"{sys.argv[1]}/{name}"
    with open(path, "rb") as stream:
        data = stream.read()
    text = data.decode()
    kinds = {
        "gz": gzip.compress(data), "xz": lzma.compress(data), "bz2": bz2.compress(data),
        "zst": b"\x28\xb5\x2f\xfd\x04\x58" + data,
        "mark": b"\xef\xbb\xbf" + data, "utf16": text.encode("utf-16"),
        "utf16le": text.encode("utf-16-le"), "utf16be": text.encode("utf-16-be"),
        "elf": b"\x7fELF\x02\x01\x01" + bytes(40), "binary": b"\x01\x02\x03\x04" + data[:9],
    }
    for kind, changed in kinds.items():
        with open(f"{path}.{kind}", "wb") as stream:
            stream.write(changed)
    with zipfile.ZipFile(path + ".zip", "w") as archive:
        archive.writestr(name, data)
END

# An archive is known by its tables, which a person may have packed or edited.
mkdir -p "$folder/archive/.eventspace"
tables=$folder/archive/.eventspace/archive.jsonl

# read_as KIND : each reader with a file of this kind, and what it says in front.
read_as()
{
    local kind=$1 message=$2
    expect 2 "$eventspace" check "$folder/map.$kind"
    contains err "eventspace check: the map is invalid: $folder/map.$kind: $message"
    expect 2 "$eventspace" map -n 2 --hostfile "$folder/hosts.$kind"
    contains err "$folder/hosts.$kind: $message"
    is_empty out
    expect 2 "$eventspace" order "$folder/set.$kind"
    contains err "$folder/set.$kind: $message"
    expect 2 "$eventspace" order - <"$folder/set.$kind"
    contains err "standard input: $message"
    expect 2 "$eventspace" order "$folder/set" --query "$folder/questions.$kind"
    contains err "eventspace order: the question cannot be answered: $folder/questions.$kind: $message"
    is_empty out
    cp "$folder/set.$kind" "$tables"
    expect 2 "$eventspace" order "$folder/archive"
    contains err "$tables: $message"
    if [ "$kind" = mark ]; then # plain text of editors is read
        expect 0 "$eventspace" import --from shiviz "$folder/log.$kind" -o "$folder/none"
        expect 0 "$eventspace" search "$folder/set" -p "$folder/patterns.$kind" P
        is_empty err
        return
    fi
    expect 2 "$eventspace" import --from shiviz "$folder/log.$kind" -o "$folder/none"
    contains err "eventspace import: cannot read the log: $folder/log.$kind: $message"
    expect 2 "$eventspace" import "$folder/log.$kind" -o "$folder/none"
    contains err "$message"
    expect 2 "$eventspace" search "$folder/set" -p "$folder/patterns.$kind" P
    contains err "$folder/patterns.$kind: $message"
}

while IFS='|' read -r kind message; do
    read_as "$kind" "$message"
done <<'END'
gz|is compressed with gzip; unpack it first
zst|is compressed with zstd; unpack it first
xz|is compressed with xz; unpack it first
bz2|is compressed with bzip2; unpack it first
zip|is a zip archive; unpack it first
mark|begins with a byte order mark (BOM) of UTF-8
utf16|begins with a byte order mark (BOM) of UTF-16
utf16le|is text in UTF-16; save it in UTF-8
utf16be|is text in UTF-16; save it in UTF-8
elf|is a program or a library (ELF)
binary|is binary, not text
END
finish
