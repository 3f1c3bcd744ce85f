/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Lists, compared with an array in which items are moved. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/list.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { ITEMS = 12 };

struct item {
    int number;
    struct esi_list_link link;
};

struct model {
    int numbers[ITEMS];
    size_t count;
};

static void compare_all(const struct esi_list *list, const struct model *model)
{
    size_t at = 0;
    const struct esi_list_link *last = NULL;

    ESI_LIST_FOREACH(struct item, item, list, link) {
        assert_true(at < model->count);
        assert_int_equal(item->number, model->numbers[at++]);
        assert_ptr_equal(item->link.previous, last);
        last = &item->link;
    }
    assert_int_equal(at, model->count);
    assert_ptr_equal(list->last, last);
}

static void model_insert(struct model *model, size_t at, int number)
{
    memmove(&model->numbers[at + 1], &model->numbers[at],
            (model->count++ - at) * sizeof(int));
    model->numbers[at] = number;
}

static size_t model_find(const struct model *model, int number)
{
    size_t at = 0;

    while (at < model->count && model->numbers[at] != number)
        at++;
    return at;
}

static void model_remove(struct model *model, size_t at)
{
    memmove(&model->numbers[at], &model->numbers[at + 1],
            (--model->count - at) * sizeof(int));
}

static void insert_at_random(struct esi_list *list,
                             struct item *items,
                             struct model *model,
                             int number,
                             uint64_t *random)
{
    struct esi_list_link *link = &items[number].link;
    size_t at = random_below(random, (uint32_t)model->count + 1);

    switch (random_below(random, 3)) {
    case 0:
        at = model->count;
        esi_list_append(list, link);
        break;
    case 1:
        at = 0;
        esi_list_prepend(list, link);
        break;
    default:
        esi_list_insert(list, link,
                        at < model->count ? &items[model->numbers[at]].link : NULL);
        break;
    }
    model_insert(model, at, number);
}

static void lists_keep_the_order_of_an_array(void **state)
{
    uint64_t random = 1;
    struct item items[ITEMS] = {{.number = 0}};
    struct esi_list list = {.first = NULL};
    struct model model = {.count = 0};

    (void)state;
    for (int i = 0; i < ITEMS; i++)
        items[i].number = i;
    for (int step = 0; step < 20000; step++) {
        int number = random_int(&random, ITEMS);
        size_t at = model_find(&model, number);

        if (at < model.count) {
            esi_list_remove(&list, &items[number].link);
            model_remove(&model, at);
        } else {
            insert_at_random(&list, items, &model, number, &random);
        }
        compare_all(&list, &model);
    }
}

static void a_queue_gives_what_came_first(void **state)
{
    struct item items[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
    struct esi_list list = {.first = NULL};

    (void)state;
    assert_null(ESI_LIST_POP(struct item, &list, link));
    assert_null(ESI_LIST_FIRST(struct item, &list, link));
    for (size_t i = 0; i < 3; i++)
        esi_list_append(&list, &items[i].link);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(ESI_LIST_FIRST(struct item, &list, link), &items[i]);
        assert_ptr_equal(ESI_LIST_POP(struct item, &list, link), &items[i]);
    }
    assert_null(list.first);
    assert_null(list.last);
}

static void items_may_be_freed_on_the_way(void **state)
{
    struct esi_list list = {.first = NULL};
    int count = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct item *item = calloc(1, sizeof *item);

        assert_non_null(item);
        item->number = i;
        esi_list_append(&list, &item->link);
    }
    for (int kept = 1; kept >= 0; kept--)
        ESI_LIST_FOREACH_SAFE(struct item, item, &list, link)
            if (item->number % 2 == kept) {
                esi_list_remove(&list, &item->link);
                free(item);
                count++;
            }
    assert_int_equal(count, 100);
    assert_null(list.first);
}

SUITE(test_list)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_keep_the_order_of_an_array),
        cmocka_unit_test(a_queue_gives_what_came_first),
        cmocka_unit_test(items_may_be_freed_on_the_way),
    };

    return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
