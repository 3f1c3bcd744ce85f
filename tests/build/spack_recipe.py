#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""spack_recipe.py - runs the Spack recipe and compares it with configure.

usage: configure --help | spack_recipe.py PACKAGE.py CONFIGURE.AC

The recipe runs with replacements for the parts of Spack that it uses, once with all
variants on and once with all off. configure has to know each option of the recipe.
configure.ac and the recipe must need the same libraries and tools, and the recipe must
not allow older versions.
"""

import re
import sys
import types

VIRTUAL = {"zlib-api"}  # has no version
# Names in Spack of things that configure.ac looks for by other names.
MODULES = {"pcre2": ["libpcre2-8"], "zlib-api": ["zlib"], "elfutils": ["libelf", "libdw"],
           "ncurses": ["ncursesw"]}
TOOLS = {"c": "AC_PROG_CC", "fortran": "AC_PROG_FC", "mpi": "ES_CHECK_MPI",
         "python": "ES_CHECK_PYTHON", "pkgconfig": "ES_CHECK_LIBRARY", "gmake": "AC_OUTPUT"}


class Recipe:
    """Collects the directives of a recipe."""

    def __init__(self):
        self.variants, self.needed = {}, []

    def variant(self, name, default, description):
        self.variants[name] = default
        assert description

    def depends_on(self, spec, when="", type="link"):
        name, _, least = spec.partition("@")
        self.needed.append((name, least.rstrip(":"), when, type))

    def ignore(self, *arguments):
        pass


class AutotoolsPackage:
    """Replaces Spack's base class, as far as the recipe uses it."""

    def __init__(self, variants):
        self.variants = variants
        self.spec = {"mpi": types.SimpleNamespace(prefix="/opt/mpi")}

    def with_or_without(self, name):
        return [f"--with-{name}" if self.variants[name] else f"--without-{name}"]


def load(path):
    """Returns the class of the recipe and its directives."""
    recipe = Recipe()
    package = types.ModuleType("spack.package")
    package.variant, package.depends_on = recipe.variant, recipe.depends_on
    package.version = package.license = package.maintainers = recipe.ignore
    base = types.ModuleType("spack_repo.builtin.build_systems.autotools")
    base.AutotoolsPackage = AutotoolsPackage
    for module in ("spack", "spack_repo", "spack_repo.builtin",
                   "spack_repo.builtin.build_systems"):
        sys.modules[module] = types.ModuleType(module)
    sys.modules[package.__name__], sys.modules[base.__name__] = package, base
    names = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)
    return names["Eventspace"], recipe


def check_options(package, recipe, known):
    """Yields options that configure does not know, and variants without an effect."""
    for on in (True, False):
        given = package(dict.fromkeys(recipe.variants, on)).configure_args()
        for option in given:
            name = re.fullmatch(r"--with(?:out)?-([\w-]+)(?:=.*)?", option)
            if not name or name[1] not in known:
                yield f"configure has no {option}"
        for variant in recipe.variants:
            if not any(option.endswith("-" + variant) for option in given):
                yield f"the variant {variant} changes nothing"


def is_older(least, wanted):
    numbers, others = ([int(number) for number in version.split(".")]
                       for version in (least or "0", wanted))
    return numbers < others[:len(numbers)]


def check_needed(recipe, text):
    """Yields libraries and tools that only one of them needs, or that are too old."""
    libraries = dict(re.findall(r"\[([\w-]+) >= ([\d.]+)\]", text))
    left = set(libraries)
    for name, least, when, kind in recipe.needed:
        if when and when[1:] not in recipe.variants:
            yield f"{name}: there is no variant {when}"
        if name in TOOLS:
            if TOOLS[name] not in text:
                yield f"configure.ac does not look for {name}"
            continue
        for module in MODULES.get(name, [name]):
            left.discard(module)
            if module not in libraries:
                yield f"configure.ac does not look for {module}"
            elif name not in VIRTUAL and is_older(least, libraries[module]):
                yield f"{name}@{least}: configure.ac wants {libraries[module]}"
        if (kind == "test") != (f"TEST_LIBRARY([{name.upper()}]" in text):
            yield f"{name}: is it for tests only?"
    yield from (f"the recipe does not need {module}" for module in sorted(left))


def main():
    path, configure = sys.argv[1:]
    package, recipe = load(path)
    known = set(re.findall(r"--with(?:out)?-([\w-]+)", sys.stdin.read()))
    with open(configure, encoding="utf-8") as file:
        text = file.read()
    faults = [*check_options(package, recipe, known), *check_needed(recipe, text)]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(bool(faults))


main()
