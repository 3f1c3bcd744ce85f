/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Sites in a module that is built by this test: with debugging information, with
 * symbols, with neither, with another build id, and deleted. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/sites/sites.h"
#include "tests/suites.h"

/* The return address is that after the call in line 8. */
static const char source[] =
    "extern void *volatile site_kept;\nvoid *volatile site_kept;\n"
    "static __attribute__((noinline)) void *inner(void)\n"
    "{ return __builtin_return_address(0); }\n"
    "void *outer(void);\nvoid *outer(void)\n{\n"
    "    site_kept = inner();\n    return site_kept;\n}\n";
enum { CALL_LINE = 8 };

struct sites_fixture {
    char folder[64];
    void *handle;
    uint64_t address;
    struct es_module module;
    struct esi_sites *sites;
};

static void build_module(const struct sites_fixture *fixture,
                         const char *name,
                         const char *options)
{
    const char *compiler = getenv("CC");
    char command[600], path[100];
    FILE *file;

    snprintf(path, sizeof path, "%s/sample.c", fixture->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && %s -O1 -shared -fPIC -Wl,--build-id %s -o %s sample.c",
             fixture->folder, compiler ? compiler : "cc", options, name);
    assert_int_equal(system(command), 0);
}

static int find_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct sites_fixture *fixture = data;
    struct es_module *module = &fixture->module;

    (void)size;
    if (strncmp(info->dlpi_name, fixture->folder, strlen(fixture->folder)) != 0)
        return 0;
    *module = (struct es_module){.begin = UINT64_MAX, .bias = info->dlpi_addr};
    snprintf(module->path, sizeof module->path, "%s", info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD && begin < module->begin)
            module->begin = begin;
        if (part->p_type == PT_LOAD && begin + part->p_memsz > module->end)
            module->end = begin + part->p_memsz;
        if (part->p_type == PT_NOTE && module->build_id_bytes == 0) {
            const ElfW(Nhdr) *note = (const void *)(uintptr_t)begin;

            while ((uintptr_t)note < begin + part->p_memsz &&
                   module->build_id_bytes == 0) {
                const char *content =
                    (const char *)(note + 1) + (note->n_namesz + 3) / 4 * 4;

                if (note->n_type == NT_GNU_BUILD_ID) {
                    module->build_id_bytes = note->n_descsz;
                    memcpy(module->build_id, content, note->n_descsz);
                }
                note = (const void *)(content + (note->n_descsz + 3) / 4 * 4);
            }
        }
    }
    return 1;
}

static void load_module(struct sites_fixture *fixture, const char *options)
{
    void *(*outer)(void);
    char path[100];

    build_module(fixture, "sample.so", options);
    snprintf(path, sizeof path, "%s/sample.so", fixture->folder);
    fixture->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(fixture->handle);
    *(void **)&outer = dlsym(fixture->handle, "outer");
    assert_non_null(outer);
    fixture->address = (uint64_t)(uintptr_t)outer();
    assert_int_equal(dl_iterate_phdr(find_module, fixture), 1);
    assert_true(fixture->module.build_id_bytes > 0);
}

static const char *name_site(struct sites_fixture *fixture)
{
    int process = esi_sites_add_process(fixture->sites, &fixture->module, 1);

    assert_true(process >= 0);
    return esi_sites_format_in(fixture->sites, process, fixture->address);
}

static int set_up(void **state)
{
    struct sites_fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    strcpy(fixture->folder, "/tmp/eventspace-sites-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(esi_sites_create(&fixture->sites), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct sites_fixture *fixture = *state;
    char command[100];

    esi_sites_destroy(fixture->sites);
    if (fixture->handle)
        dlclose(fixture->handle);
    snprintf(command, sizeof command, "rm -rf %s", fixture->folder);
    assert_int_equal(system(command), 0);
    free(fixture);
    return 0;
}

static void is_module_and_offset(const struct sites_fixture *fixture, const char *text)
{
    char expected[64];

    snprintf(expected, sizeof expected, "sample.so+0x%llx",
             (unsigned long long)(fixture->address - fixture->module.bias));
    assert_string_equal(text, expected);
}

static void debugging_information_gives_the_line(void **state)
{
#ifdef HAVE_LIBDW
    struct sites_fixture *fixture = *state;
    char expected[64];

    load_module(fixture, "-g");
    snprintf(expected, sizeof expected, "sample.c:%d in outer()", CALL_LINE);
    assert_string_equal(name_site(fixture), expected);
    /* The module has another address in another process; the site is the same. */
    assert_ptr_equal(name_site(fixture), name_site(fixture));
    fixture->address += 0x10000;
    fixture->module.begin += 0x10000;
    fixture->module.end += 0x10000;
    fixture->module.bias += 0x10000;
    assert_string_equal(name_site(fixture), expected);
#else
    (void)state;
    skip();
#endif
}

static void symbols_give_the_function(void **state)
{
#ifdef HAVE_LIBDW
    struct sites_fixture *fixture = *state;
    char expected[64];

    load_module(fixture, "-g0");
    snprintf(expected, sizeof expected, "outer()+0x%llx",
             (unsigned long long)(fixture->address - (uint64_t)(uintptr_t)dlsym(
                                                         fixture->handle, "outer")));
    assert_string_equal(name_site(fixture), expected);
#else
    (void)state;
    skip();
#endif
}

static void without_both_it_is_module_and_offset(void **state)
{
    struct sites_fixture *fixture = *state;

    /* The dynamic symbol of outer() remains; it does not cover this address. */
    load_module(fixture, "-g0 -s");
    fixture->address = fixture->module.bias + 1;
    is_module_and_offset(fixture, name_site(fixture));
}

static void another_build_is_not_believed(void **state)
{
    struct sites_fixture *fixture = *state;

    load_module(fixture, "-g");
    fixture->module.build_id[0] ^= 1;
    is_module_and_offset(fixture, name_site(fixture));
    fixture->module.build_id_bytes = 0;
    is_module_and_offset(fixture, name_site(fixture));
}

static void a_file_that_is_gone_leaves_module_and_offset(void **state)
{
    struct sites_fixture *fixture = *state;

    load_module(fixture, "-g");
    assert_int_equal(unlink(fixture->module.path), 0);
    is_module_and_offset(fixture, name_site(fixture));
}

static void addresses_outside_are_numbers(void **state)
{
    struct sites_fixture *fixture = *state;
    int process = esi_sites_add_process(fixture->sites, NULL, 0);

    assert_string_equal(esi_sites_format_in(fixture->sites, process, 0x1234), "0x1234");
    assert_string_equal(esi_sites_format_in(fixture->sites, 99, 0x1234), "0x1234");
    assert_string_equal(esi_sites_format_in(fixture->sites, process, 0), "");
}

SUITE(test_sites)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(debugging_information_gives_the_line),
        cmocka_unit_test(symbols_give_the_function),
        cmocka_unit_test(without_both_it_is_module_and_offset),
        cmocka_unit_test(another_build_is_not_believed),
        cmocka_unit_test(a_file_that_is_gone_leaves_module_and_offset),
        cmocka_unit_test(addresses_outside_are_numbers),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
