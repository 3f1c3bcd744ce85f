# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# fish completion of `eventspace`: the command itself knows what a word can become.

function __eventspace_complete
    set -l words (commandline -opc) (commandline -ct)
    command eventspace complete $words[2..-1] 2>/dev/null
end
complete -c eventspace -a '(__eventspace_complete)'
