# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""The table of MPI routines: its reader, its codes, and the generated code."""

import glob
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOP = os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "wrappers", "mpi"))

from emit_mpi import emit_next, emit_pass_through, emit_wrappers  # noqa: E402
from emit_table import constant, emit_list  # noqa: E402
from mpi_prototypes import read_prototypes  # noqa: E402
from operation_table import TableError, all_operations, read_table  # noqa: E402

TABLE = os.path.join(TOP, "wrappers", "mpi", "operations.tab")
GOLDEN = os.path.join(TOP, "tests", "data", "operation_codes.golden")

# Rows that the reader rejects, and its messages.
FAULTS = (
    ("1 sending MPI_X(a) = call()", "unknown class sending"),
    ("1 send MPI_X(a) +d = call()", "unknown flag +d"),
    ("1 collective MPI_X(a) all-to-most = call()", "unknown flag all-to-most"),
    ("50 send MPI_X(a) = call()", "code of another chapter"),
    ("1 send MPI_X(a) = call", "a recipe is"),
    ("1 send MPI_X(a) = one(); two(); three()", "a recipe is"),
    ("1 send MPI_X(a)", "neither a chapter nor a row"),
    ("one send MPI_X(a) = call()", "neither a chapter nor a row"),
    ("- none local = MPI_X MPY_Z", "not the name of a routine: MPY_Z"),
    ("1 send MPI_X(a) = call()\n2 send MPI_X(a) = call()", "MPI_X has two rows"),
    ("1 send MPI_X(a) = call()\n1 send MPI_Y(a) = call()", "code 1 of another"),
    ("1 send MPI_X(a) +c = call()\n- none local = MPI_X_c", "MPI_X_c has two rows"),
)

HEADER = """
# 1 "mpi.h"
typedef int MPI_Thing;
int MPI_Put_it(const void *buf, int counts[], MPI_Thing one, int range[][3])
    __attribute__((with_type_tag(MPI, 1, (3)))) __attribute__((visibility("default")));
extern int MPI_Nothing(void);
int MPI_On(MPI_Comm comm, MPI_Comm *made);
double MPI_Late(void);
int MPI_Many(const int level, ...);
int PMPI_Nothing(void);
typedef int (MPI_A_function)(int a);
"""


def read_text(text, first="chapter test 1 49\n"):
    return read_file(first + text, read_table)


def read_file(text, reader):
    handle, path = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "w") as output:
            output.write(text)
        return reader(path)
    finally:
        os.unlink(path)


class Reader(unittest.TestCase):
    def test_faults_are_refused_with_file_and_reason(self):
        for text, reason in FAULTS:
            with self.subTest(text), self.assertRaises(TableError) as caught:
                read_text(text)
            self.assertIn(reason, str(caught.exception))

    def test_a_fault_is_told_with_its_line(self):
        with self.assertRaises(TableError) as caught:
            read_text("# comment\n\n1 send MPI_A(a) =\n    call()\n2 send MPI_B(a)\n")
        self.assertRegex(str(caught.exception), r":6: neither")

    def test_a_row_needs_a_chapter(self):
        with self.assertRaises(TableError) as caught:
            read_text("1 send MPI_X(a) = call()", first="")
        self.assertIn("must stand in a chapter", str(caught.exception))

    def test_a_large_count_variant_is_a_row_of_its_own(self):
        rows = all_operations(read_text("7 collective MPI_V(a, b) +c = x(a, b)"))
        self.assertEqual([row.name for row in rows], ["MPI_V", "MPI_V_c"])
        self.assertEqual([row.code for row in rows], [7, 2007])
        self.assertEqual([row.before.name for row in rows], ["x", "x"])

    def test_rows_of_no_class_say_why(self):
        rows = all_operations(read_text("- none local: no data =\n  MPI_A MPI_B[_c]"))
        self.assertEqual([row.name for row in rows], ["MPI_A", "MPI_B", "MPI_B_c"])
        self.assertEqual({row.why for row in rows}, {"local: no data"})
        self.assertFalse(any(row.is_wrapped or row.code for row in rows))


class Prototypes(unittest.TestCase):
    def setUp(self):
        self.prototypes = read_file(HEADER, read_prototypes)

    def test_only_routines_are_found(self):
        self.assertEqual(
            sorted(self.prototypes),
            ["MPI_Late", "MPI_Many", "MPI_Nothing", "MPI_On", "MPI_Put_it"],
        )
        self.assertTrue(self.prototypes["MPI_Many"].is_variadic)
        self.assertEqual(self.prototypes["MPI_Late"].result, "double")

    def test_parameters_take_the_names_of_the_table(self):
        self.assertEqual(
            self.prototypes["MPI_Put_it"].declare(["a", "b", "c", "d"]),
            "const void *a, int b[], MPI_Thing c, int d[][3]",
        )
        self.assertEqual(self.prototypes["MPI_Nothing"].declare([]), "void")


class Emitted(unittest.TestCase):
    def setUp(self):
        self.prototypes = read_file(HEADER, read_prototypes)

    def emit(self, row):
        return emit_wrappers(read_text(row), self.prototypes, "test")

    def test_both_names_call_what_follows_the_same_name(self):
        text = self.emit("1 send MPI_Put_it(a, b, c, d) = send(c, a); done(b)")
        for name in ("MPI_Put_it", "PMPI_Put_it"):
            self.assertRegex(
                text, r'ESI_EXPORT int esi_entry_%s\(const void \*a.*__asm__\("%s"\);' % (name, name)
            )
        self.assertIn('esi_next_resolve(&known, "MPI_Put_it")', text)
        self.assertIn('esi_next_resolve(&known, "PMPI_Put_it")', text)
        self.assertIn("esi_begin_send(&call, c, a);", text)
        self.assertIn("esi_end_done(&call, result, b);", text)

    def test_handles_are_taken_as_words_and_those_of_another_mpi_passed_on(self):
        text = self.emit("1 send MPI_On(a, b) = send(a)")
        self.assertIn("esi_entry_MPI_On(uintptr_t word_of_a, MPI_Comm *b)\n", text)
        self.assertIn("MPI_Comm a = (MPI_Comm)word_of_a;", text)
        self.assertIn("foreign(word_of_a, b)", text)
        self.assertIn("wrap_MPI_On(next, a, b)", text)

    def test_a_routine_that_this_mpi_lacks_is_not_wrapped(self):
        self.assertNotIn("MPI_New", self.emit("1 send MPI_New(a) = call()"))

    def test_a_wrong_number_of_arguments_is_refused(self):
        with self.assertRaises(TableError) as caught:
            self.emit("1 send MPI_Put_it(a, b) = call()")
        self.assertIn("2 arguments in the table and 4", str(caught.exception))

    def test_custom_routines_are_declared_and_called(self):
        chapters = read_text("1 send MPI_Nothing() = custom")
        declared = emit_next(chapters, self.prototypes)
        self.assertIn("int esi_wrap_MPI_Nothing(esi_MPI_Nothing_fn *next);", declared)
        self.assertIn("#define ESI_HAS_MPI_Nothing 1\n", declared)
        called = emit_wrappers(chapters, self.prototypes, "test")
        self.assertIn("esi_wrap_MPI_Nothing(next)", called)
        self.assertNotIn("esi_wrap", emit_pass_through(chapters, self.prototypes))


class Codes(unittest.TestCase):
    def test_codes_are_those_of_the_released_list(self):
        """Archives contain codes.  A new routine gets a new line in the golden list,
        printed by generate.py list; no line may be changed or removed."""
        with open(GOLDEN, encoding="utf-8") as golden:
            self.assertEqual(golden.read(), emit_list(read_table(TABLE)))

    def test_codes_fit_their_field(self):
        for row in all_operations(read_table(TABLE)):
            self.assertIn(row.code, range(0, 1 << 16), row.name)

    def test_every_recipe_uses_only_the_arguments_of_its_routine(self):
        known = {"MPI_BYTE", "MPI_IN_PLACE", "ES_PEER_NONE", "esi_significant_bcast",
                 "esi_significant_count", "esi_significant_type", "ESI_SUM_COUNTS", "call"}
        for row in all_operations(read_table(TABLE)):
            for call in filter(None, (row.before, row.after)):
                words = set(re.findall(r"\b[A-Za-z_]\w*", call.arguments))
                self.assertLessEqual(words, known | set(row.arguments), row.name)

    def test_facts_are_what_names_and_arguments_say(self):
        for row in all_operations(read_table(TABLE)):
            name = row.name[:-2] if row.name.endswith("_c") else row.name
            moves = row.op_class in ("send", "receive", "collective")
            counts = {"sendcounts", "recvcounts"} & set(row.arguments or [])
            completes = row.op_class == "completion"
            self.assertEqual(row.persistent, moves and name.endswith("_init"), name)
            sends = row.op_class == "send"
            # Of what has a request, receives and collectives are recorded at their end.
            posts = (sends and name.startswith("MPI_Start ")) or (
                "request" in (row.arguments or []) and not row.persistent
                and not row.nonblocking and row.op_class != "completion"
                and not name.startswith(("MPI_Start", "MPI_Pready", "MPI_Grequest_c")))
            self.assertEqual(row.posts, posts, name)
            self.assertEqual(row.nonblocking and row.posts, False, name)
            self.assertEqual(row.ready, sends and "rsend" in name.lower(), name)
            self.assertEqual(row.starts, name in ("MPI_Start", "MPI_Startall"), name)
            self.assertEqual(row.completes, completes and name.startswith(
                ("MPI_Wait", "MPI_Test")), name)
            self.assertEqual(row.rma != "none", row.op_class == "one-sided" and (
                name == "MPI_Win_free" or "win" in (row.arguments or []) and not
                name.startswith(("MPI_Win_create", "MPI_Win_allocate", "MPI_Win_set_",
                                 "MPI_Win_sync"))), name)
            self.assertEqual(row.buffered, sends and "bsend" in name.lower(), name)
            self.assertEqual(row.combined, "sendrecv" in name.lower(), name)
            self.assertEqual(row.probe, "probe" in name.lower(), name)
            self.assertEqual(row.waits, name.startswith("MPI_Wait"), name)
            self.assertEqual(row.any, completes and name.endswith(("any", "some")), name)
            self.assertEqual(row.counts != "alike", bool(counts), name)

    def test_wrappers_written_by_hand_enter_with_the_class_of_the_table(self):
        classes = {
            row.constant: constant("ES_CLASS_", row.op_class)
            for row in all_operations(read_table(TABLE))
        }
        entered = []
        for path in glob.glob(os.path.join(TOP, "wrappers", "mpi", "*.[ch]")):
            with open(path, encoding="utf-8") as source:
                entered += re.findall(
                    r"esi_call_enter\(&call,\s*(ES_OP_\w+),\s*(ES_CLASS_\w+)\)", source.read()
                )
        self.assertGreater(len(entered), 10)
        for operation, op_class in entered:
            self.assertEqual(op_class, classes.get(operation), operation)


if __name__ == "__main__":
    unittest.main()
