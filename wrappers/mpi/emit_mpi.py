# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Emits what needs the types of an mpi.h: wrappers and the real routines' types."""

import re

from emit_fast import emit_alike, emit_fast, fast_path_of
from emit_progress import emit_choice, emit_progress, progress_name
from emit_table import HEAD, constant
from emit_tree import emit_tree, emit_way
from mpi_prototypes import rename
from operation_table import TableError, all_operations


def wrapped(chapters, prototypes):
    """The wrapped operations that this MPI has, checked against its prototypes."""
    operations = [
        operation
        for operation in all_operations(chapters)
        if operation.is_wrapped and operation.name in prototypes
    ]
    for operation in operations:
        prototype = prototypes[operation.name]
        if len(operation.arguments) != len(prototype.parameters):
            raise TableError(
                "%s has %d arguments in the table and %d in mpi.h"
                % (operation.name, len(operation.arguments), len(prototype.parameters))
            )
        if prototype.result != "int":
            raise TableError("%s does not return an error code" % operation.name)
    return operations


def arguments_of(operation, *first):
    return ", ".join(list(first) + operation.arguments)


def emit_next(chapters, prototypes):
    """mpi_next.h: types of all real routines, and the custom wrappers' prototypes.

    ESI_HAS_X tells whether this MPI has a routine: Open MPI 5 has many of MPI-4.0, without
    large counts, and its MPI_VERSION is 3.
    """
    names = sorted(
        name for name, prototype in prototypes.items() if not prototype.is_variadic
    )
    lines = [
        HEAD % "Types of the real MPI's routines.",
        "#ifndef ES_MPI_NEXT_H",
        "#define ES_MPI_NEXT_H",
        "",
        "#include <mpi.h>",
        "",
        '#include "wrappers/mpi/next.h"',
        "",
        "/* Deprecated and removed routines are declared here, not called. */",
        "#pragma GCC diagnostic push",
        '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"',
    ]
    lines += ["typedef __typeof__(%s) esi_%s_fn;" % (name, name) for name in names]
    lines += ["#pragma GCC diagnostic pop", "", "/* This MPI has the routine. */"]
    lines += ["#define ESI_HAS_%s 1" % name for name in names]
    lines += ["", "enum esi_routine {"]
    lines += ["    ESI_ROUTINE_%s," % name for name in names]
    lines += [
        "    ESI_ROUTINE_COUNT",
        "};",
        "",
        "/* Addresses for ESI_REAL(). */",
        "extern struct esi_next esi_real[ESI_ROUTINE_COUNT];",
        "",
        "/* Written by hand. */",
    ]
    for operation in wrapped(chapters, prototypes):
        if operation.custom:
            lines.append(custom_prototype(operation, prototypes[operation.name]))
        if operation.progress == "by-hand":
            lines.append("esi_%s_fn %s;" % (operation.name, progress_name(operation)))
    return "\n".join(lines + ["", "#endif", ""])


def custom_prototype(operation, prototype):
    parameters = "esi_%s_fn *next" % operation.name
    if operation.arguments:
        parameters += ", " + prototype.declare(operation.arguments)
    return "int esi_wrap_%s(%s);" % (operation.name, parameters)


def emit_wrappers(chapters, prototypes, chapter_name):
    """One source file: the wrappers of a chapter, under both names of each routine."""
    parts = [
        HEAD % ("Wrappers of MPI routines: %s." % chapter_name.replace("_", " ")),
        '#include "config.h"\n\n#include "wrappers/mpi/completion.h"\n'
        '#include "wrappers/mpi/describe.h"\n'
        '#include "wrappers/mpi/fast.h"\n'
        '#include "wrappers/mpi/messages.h"\n'
        '#include "wrappers/mpi/objects.h"\n'
        '#include "wrappers/mpi/progress.h"\n'
        '#include "wrappers/mpi/tree_ops.h"\n',
    ]
    for operation in wrapped(chapters, prototypes):
        if operation.chapter != chapter_name:
            continue
        prototype = prototypes[operation.name]
        if operation.tree:
            parts.append(tree_function(operation, prototype))
        if operation.counts_object:
            parts.append(counting_body(operation, prototype))
        elif not operation.custom:
            parts.append(recipe_body(operation, prototype))
        parts.append(emit_progress(operation, prototype, chapters))
        prefix = "esi_wrap_" if operation.custom else "wrap_"
        inner = "%s%s(%s)" % (prefix, operation.name, arguments_of(operation, "next"))
        prelude = emit_fast(operation) + emit_choice(operation) + SITE
        parts += [
            exported(name, operation, prototype, inner, prelude)
            for name in (operation.name, "P" + operation.name)
        ]
    return "\n".join(parts)


def tree_function(operation, prototype):
    call = "next(%s)" % arguments_of(operation)
    return emit_tree(operation, prototype, call)


def recipe_body(operation, prototype):
    before, after = operation.before, operation.after
    leave = "esi_call_leave(&call, result)"
    if after:
        leave = "esi_end_%s(&call, result%s)" % (after.name, comma(after.arguments))
    arguments = arguments_of(operation)
    native = "    result = next(%s);" % arguments
    return BODY % {
        "inline": NOT_INLINE if fast_path_of(operation) else "ES_HOT",
        "name": operation.name,
        "parameters": "esi_%s_fn *next" % operation.name
        + comma(operation.arguments and prototype.declare(operation.arguments)),
        "constant": operation.constant,
        "class": constant("ES_CLASS_", operation.op_class),
        "arguments": arguments,
        "call": emit_way(operation, arguments) if operation.tree else native,
        "alike": alike_line(operation),
        "before": "esi_begin_%s(&call%s)" % (before.name, comma(before.arguments)),
        "leave": leave,
    }


def alike_line(operation):
    alike = emit_alike(operation, "call.thread")
    return "    call.alike = %s;\n" % alike if alike else ""


def counting_body(operation, prototype):
    call = operation.counts_object
    return COUNTING % {
        "name": operation.name,
        "parameters": prototype.declare(operation.arguments),
        "arguments": arguments_of(operation),
        "count": "esi_count_%s(%s)" % (call.name, call.arguments),
    }


def comma(arguments):
    return ", " + arguments if arguments else ""


# What is seldom called need not be in both exported functions.
NOT_INLINE = "static __attribute__((noinline))"

BODY = """%(inline)s int wrap_%(name)s(%(parameters)s)
{
    struct esi_call call;
    int result;

    if (!esi_call_enter(&call, %(constant)s, %(class)s))
        return next(%(arguments)s);
%(alike)s    %(before)s;
%(call)s
    %(leave)s;
    return result;
}
"""


COUNTING = """ES_HOT int wrap_%(name)s(esi_%(name)s_fn *next, %(parameters)s)
{
    bool is_own = esi_object_enter(esi_thread_self.frame);
    int result = next(%(arguments)s);

    if (is_own)
        esi_object_leave();
    if (is_own && result == MPI_SUCCESS)
        %(count)s;
    return result;
}
"""


# Types of one word in some MPIs and of four bytes in others, as they are passed by value.
HANDLE = re.compile(r"MPI_(?:%s) \w+" % "|".join(
    "Comm Datatype Errhandler File Group Info Message Op Request Session Win".split()))


def exported(name, operation, prototype, call, choice=""):
    """The symbol that the program meets; `name` is the MPI_ or the PMPI_ name, `choice`
    what may put another function in the place of the next definition."""
    words, arguments, handles = [], [], ""
    for parameter, argument in zip(prototype.parameters, operation.arguments):
        own = rename(parameter, argument)
        if HANDLE.fullmatch(own):
            handles += HANDLE_OF % {"own": own, "type": own.split()[0], "name": argument}
            own = "uintptr_t word_of_" + argument
            argument = "word_of_" + argument
        words.append(own)
        arguments.append(argument)
    return EXPORTED % {
        "name": name,
        "words": ", ".join(words) or "void",
        "arguments": ", ".join(arguments),
        "handles": handles,
        "routine": operation.name,
        "choice": choice,
        "call": call,
    }


# Only the outermost function knows where the program goes on.
SITE = """    esi_site_enter(__builtin_return_address(0), __builtin_dwarf_cfa());
"""

HANDLE_OF = """    %(own)s = (%(type)s)word_of_%(name)s;
"""

# Handles come as words, so that those of another MPI can be passed on.
EXPORTED = """ESI_EXPORT int esi_entry_%(name)s(%(words)s) __asm__("%(name)s");
int esi_entry_%(name)s(%(words)s)
{
    static struct esi_next known;
    esi_%(routine)s_fn *next = (esi_%(routine)s_fn *)esi_next_known(&known);
%(handles)s
    if (__builtin_expect(next == NULL, 0)) {
        next = (esi_%(routine)s_fn *)esi_next_resolve(&known, "%(name)s");
        __typeof__(esi_entry_%(name)s) *foreign = (__typeof__(foreign))known.foreign;
        if (next == NULL)
            return foreign != NULL ? foreign(%(arguments)s) : MPI_ERR_OTHER;
    }
%(choice)s    return %(call)s;
}
"""


def emit_pass_through(chapters, prototypes):
    """Wrappers that only call the next: what interposing itself costs."""
    parts = [
        HEAD % "Wrappers of MPI routines that record nothing.",
        '#include "config.h"\n\n#include "wrappers/mpi/mpi_next.h"\n',
    ]
    for operation in wrapped(chapters, prototypes):
        call = "next(%s)" % arguments_of(operation)
        for name in (operation.name, "P" + operation.name):
            parts.append(exported(name, operation, prototypes[operation.name], call))
    return "\n".join(parts)
