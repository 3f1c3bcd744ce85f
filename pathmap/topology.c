/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The topology of this host from hwloc.  Machines without packages count as one
 * package, machines without cores as having one processing unit per core (virtual
 * machines report either).
 */
#include "config.h"

#include "pathmap/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include "pathmap/record.h"

static int topology_load(const char *synthetic,
                         struct es_error *error,
                         hwloc_topology_t *ret_topology)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) != 0)
        return es_error_set(error, -ENOMEM, "topology: no memory left");
    if (synthetic != NULL && hwloc_topology_set_synthetic(topology, synthetic) != 0) {
        hwloc_topology_destroy(topology);
        return es_error_set(
            error, -EINVAL,
            "topology '%.100s': expected a synthetic description such as "
            "'package:2 core:4 pu:2'",
            synthetic);
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return es_error_set(error, -EIO, "topology: hwloc cannot read it: %s",
                            strerror(errno));
    }
    *ret_topology = topology;
    return 0;
}

/* Number of objects of `type` inside `whole`, or 1 for `whole` itself if there are
 * none. */
static size_t count_parts(hwloc_topology_t topology,
                          hwloc_obj_t whole,
                          hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_inside_cpuset_by_type(topology, whole->cpuset, type);

    return count > 0 ? (size_t)count : 1;
}

static hwloc_obj_t topology_part(hwloc_topology_t topology,
                                 hwloc_obj_t whole,
                                 hwloc_obj_type_t type,
                                 size_t index)
{
    hwloc_obj_t found = hwloc_get_obj_inside_cpuset_by_type(topology, whole->cpuset,
                                                            type, (unsigned)index);

    return found != NULL ? found : whole;
}

static int fill_core(hwloc_topology_t topology,
                     hwloc_obj_t whole,
                     struct esi_pathmap_core *core)
{
    size_t count = count_parts(topology, whole, HWLOC_OBJ_PU);

    core->pus = calloc(count, sizeof(*core->pus));
    if (core->pus == NULL)
        return -ENOMEM;
    core->pu_count = count;
    for (size_t i = 0; i < count; i++)
        core->pus[i] =
            (int64_t)topology_part(topology, whole, HWLOC_OBJ_PU, i)->os_index;
    return 0;
}

static int fill_package(hwloc_topology_t topology,
                        hwloc_obj_t whole,
                        struct esi_pathmap_package *package)
{
    bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
    hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    size_t count = count_parts(topology, whole, type);
    int code = 0;

    package->cores = calloc(count, sizeof(*package->cores));
    if (package->cores == NULL)
        return -ENOMEM;
    package->core_count = count;
    for (size_t i = 0; i < count && code == 0; i++)
        code = fill_core(topology, topology_part(topology, whole, type, i),
                         &package->cores[i]);
    return code;
}

static void count_all(struct esi_pathmap_host *host)
{
    for (size_t p = 0; p < host->package_count; p++) {
        host->cores += (int64_t)host->packages[p].core_count;
        for (size_t c = 0; c < host->packages[p].core_count; c++)
            host->pus += (int64_t)host->packages[p].cores[c].pu_count;
    }
}

static int fill_host(hwloc_topology_t topology, struct esi_pathmap_host *host)
{
    hwloc_obj_t machine = hwloc_get_root_obj(topology);
    size_t count = count_parts(topology, machine, HWLOC_OBJ_PACKAGE);
    int code = 0;

    host->packages = calloc(count, sizeof(*host->packages));
    if (host->packages == NULL)
        return -ENOMEM;
    host->package_count = count;
    for (size_t i = 0; i < count && code == 0; i++)
        code = fill_package(topology,
                            topology_part(topology, machine, HWLOC_OBJ_PACKAGE, i),
                            &host->packages[i]);
    count_all(host);
    host->memory_bytes = (int64_t)machine->total_memory;
    return code;
}

int esi_topology_describe(const char *synthetic,
                          struct es_error *error,
                          struct esi_pathmap_host *host)
{
    struct esi_pathmap_host found = {0};
    hwloc_topology_t topology = NULL;
    int code = topology_load(synthetic, error, &topology);

    if (code < 0)
        return code;
    code = fill_host(topology, &found);
    hwloc_topology_destroy(topology);
    if (code < 0) {
        esi_record_fini(&esi_host_fields, &found);
        return es_error_set(error, code, "topology: no memory left");
    }
    host->cores = found.cores;
    host->pus = found.pus;
    host->memory_bytes = found.memory_bytes;
    host->packages = found.packages;
    host->package_count = found.package_count;
    return 0;
}
