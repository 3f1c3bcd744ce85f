# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# package.py - EventSpace for Spack 1.0 or later: packages/eventspace/package.py of a
# repository, once a release has an address and a checksum.

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Eventspace(AutotoolsPackage):
    """Communication monitor for MPI programs: shows while a program runs whether it is
    alive, who waits for whom and why, and in which causal order things happened."""

    license("BSD-3-Clause")
    maintainers("eventspace")

    # A release adds: url = "...", and sha256 here. Until there is one:
    # spack develop --path SOURCES eventspace@1.0.0
    version("1.0.0")

    variant("libdw", default=True, description="Show calls as lines of source")
    variant("libelf", default=True, description="Let doctor look into programs")
    variant("libpng", default=True, description="Write communication matrices as PNG")
    variant("microhttpd", default=True, description="Serve the page of eventspace view")
    variant("ncurses", default=True, description="Have the terminal view of eventspace top")
    variant("otf2", default=False, description="Export to OTF2 and import from it")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    depends_on("mpi")
    depends_on("hwloc@2:")
    depends_on("jansson@2.11:")
    depends_on("openssl@1.1.1:")
    depends_on("pcre2@10.30:")
    depends_on("zlib-api")
    depends_on("elfutils@0.170:", when="+libdw")
    depends_on("elfutils@0.170:", when="+libelf")
    depends_on("libmicrohttpd@0.9.71:", when="+microhttpd")
    depends_on("libpng@1.6:", when="+libpng")
    depends_on("ncurses@6.1:", when="+ncurses")
    depends_on("otf2@3:", when="+otf2")
    depends_on("cmocka@1.1.5:", type="test")

    def configure_args(self):
        args = ["--with-mpi=" + self.spec["mpi"].prefix, "--with-openmpi=no"]
        for name in ("libdw", "libelf", "libpng", "microhttpd", "ncurses", "otf2"):
            args += self.with_or_without(name)
        return args
