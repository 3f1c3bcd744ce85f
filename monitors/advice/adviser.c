/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * adviser.c - finds the rule in force for each measured group.
 *
 * Hosts are queried for their trees before the monitor is paused, because their answers
 * may take long.
 */
#include "config.h"

#include "monitors/advice/adviser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "monitors/advice/applier.h"
#include "monitors/advice/tree_change.h"
#include "monitors/advice/collectives_advice.h"
#include "monitors/run/run_follow.h"

enum { COMMAND_BYTES = 512 };

struct esi_adviser {
    struct esi_tree_hosts hosts;
    const struct esi_collectives_advise *options; /* borrowed */
    struct esi_collectives_advice *advice;
    struct esi_run_process **processes; /* by origin, which is an element there */
    size_t origin_count, origin_capacity;
    struct esi_applier *applier; /* NULL = nothing is applied */
    struct esi_tree_plan places; /* hosts of the run, for the advice */
    struct esi_tree_plan plan;   /* the rules in force */
    bool has_plan;
    uint32_t wish; /* their version */
    struct esi_tree_rows rows;
    bool asked;
    struct esi_collectives_proposal *proposals; /* owned, like its strings */
    char (*commands)[COMMAND_BYTES];
    size_t count;
    bool over;
    bool last; /* nothing is changed any more */
};

/* --- The rules in force ----------------------------------------------------------- */

static uint32_t newest_wish(const struct esi_tree_rows *rows)
{
    uint32_t newest = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].wish > newest)
            newest = rows->rows[i].wish;
    return newest;
}

/* Queries the rules in force.  Returns 0 or -errno; then the old ones are kept. */
static int refresh_rules(struct esi_adviser *adviser)
{
    struct esi_tree_rows rows = {.rows = NULL};
    struct es_error error = {.text = ""};
    struct esi_tree_plan plan;
    int code = esi_tree_rows_ask(&adviser->hosts, &rows);

    if (code < 0)
        return code;
    esi_tree_rows_fini(&adviser->rows);
    adviser->rows = rows;
    adviser->asked = true;
    if (adviser->has_plan && adviser->wish == newest_wish(&rows))
        return 0;
    code = esi_tree_plan_load(&adviser->hosts, false, &error, &plan);
    if (code < 0)
        return code;
    if (adviser->has_plan)
        esi_tree_plan_fini(&adviser->plan);
    adviser->plan = plan;
    adviser->has_plan = true;
    adviser->wish = newest_wish(&rows);
    return 0;
}

/* Finds the rule for a group.  Returns false if it is not known because the
 * communicator has not switched to the newest rules. */
static bool find_in_force(const struct esi_adviser *adviser,
                          const struct esi_advised_group *group,
                          const struct esi_tree_rule **ret_rule,
                          uint32_t *ret_version)
{
    *ret_rule = NULL;
    *ret_version = 0;
    if (!adviser->has_plan || adviser->rows.processes == 0)
        return true;
    *ret_version = adviser->wish;
    for (size_t i = 0; i < adviser->rows.count; i++) {
        const struct esi_tree_row *row = &adviser->rows.rows[i];

        if (row->size == group->size &&
            strcmp(row->communicator, group->communicator) == 0 &&
            row->version != adviser->wish)
            return false;
    }
    *ret_rule = esi_tree_rules_find(&adviser->plan.rules, group->operation,
                                    group->communicator, (uint64_t)group->mean_bytes);
    return true;
}

/* --- Proposals -------------------------------------------------------------------- */

/* Whether the shell needs no quotes for it. */
static bool is_plain(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_-.,:/") == strlen(text);
}

static void make_command(const struct esi_adviser *adviser,
                         const struct esi_collectives_proposal *proposal,
                         char *out)
{
    const struct esi_tree_rule *rule = &proposal->advice.rule;
    const char *quote = is_plain(rule->communicator) ? "" : "'";
    char bytes[64] = "";

    if (rule->max_bytes > 0)
        snprintf(bytes, sizeof bytes, " --bytes %" PRIu64 "-%" PRIu64, rule->min_bytes,
                 rule->max_bytes);
    snprintf(out, COMMAND_BYTES,
             "eventspace collect tree %s --comm %s%s%s --operation %s%s %s",
             proposal->then, quote, rule->communicator, quote,
             esi_tree_operation_name(rule->operations), bytes,
             es_run_name(adviser->hosts.run));
}

static void say_behind(struct esi_tree_advice *advice)
{
    *advice = (struct esi_tree_advice){.verdict = ES_ADVICE_UNKNOWN};
    snprintf(advice->reason, sizeof advice->reason,
             "the communicator does not use the newest rules yet");
}

static int propose_changes(struct esi_adviser *adviser,
                           size_t index,
                           struct esi_collectives_proposal *proposal)
{
    const struct esi_tree_rule *rule;
    uint32_t version;
    int code = 0;

    esi_tree_advisor_group(esi_collectives_advice_advisor(adviser->advice), index,
                           &proposal->group);
    snprintf(proposal->communicator, sizeof proposal->communicator, "%s",
             proposal->group.communicator);
    proposal->group.communicator = proposal->communicator;
    proposal->group.world_ranks = NULL;
    if (find_in_force(adviser, &proposal->group, &rule, &version))
        code = esi_collectives_advice_propose(adviser->advice, index, rule, version,
                                              &proposal->advice);
    else
        say_behind(&proposal->advice);
    if (rule)
        esi_tree_rule_format_short(rule, proposal->in_force, sizeof proposal->in_force);
    else
        snprintf(proposal->in_force, sizeof proposal->in_force, "library");
    if (code < 0 || proposal->advice.verdict == ES_ADVICE_UNKNOWN)
        return code;
    esi_tree_rule_format_short(&proposal->advice.rule, proposal->then,
                               sizeof proposal->then);
    if (proposal->advice.verdict == ES_ADVICE_BETTER && adviser->rows.alive > 0 &&
        !adviser->over && proposal->group.communicator[0] &&
        !strchr(proposal->group.communicator, '\'')) {
        make_command(adviser, proposal, adviser->commands[index]);
        proposal->command = adviser->commands[index];
    }
    return 0;
}

static int compute_advice(void *data)
{
    struct esi_adviser *adviser = data;
    const struct esi_tree_advisor *advisor =
        esi_collectives_advice_advisor(adviser->advice);
    size_t count = esi_tree_advisor_count(advisor);

    if (adviser->last &&
        esi_causality_finish(esi_collectives_advice_messages(adviser->advice)) < 0)
        return -ENOMEM;
    free(adviser->proposals);
    free(adviser->commands);
    adviser->count = 0;
    adviser->proposals = calloc(count + 1, sizeof *adviser->proposals);
    adviser->commands = calloc(count + 1, sizeof *adviser->commands);
    if (!adviser->proposals || !adviser->commands)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        int code = propose_changes(adviser, i, &adviser->proposals[adviser->count]);

        if (code == 0)
            adviser->count++;
        else if (code != -EINVAL) /* a rule that builds no tree here is ignored */
            return code;
    }
    if (adviser->applier) {
        esi_applier_measure(adviser->applier, advisor, adviser->last);
        if (!adviser->last)
            esi_applier_choose(adviser->applier, adviser->proposals, adviser->count,
                               advisor);
    }
    return 0;
}

int esi_adviser_look(struct esi_adviser *adviser,
                     struct esi_collectives_monitor *monitor,
                     bool over,
                     bool last)
{
    int code = 0;

    adviser->over = over;
    adviser->last = over || last;
    if (!over || !adviser->asked)
        code = refresh_rules(adviser);
    if (code < 0)
        return code;
    code = esi_collectives_monitor_call(monitor, compute_advice, adviser);
    if (code == 0 && adviser->applier && !adviser->last)
        code = esi_applier_act(adviser->applier);
    return code;
}

const struct esi_collectives_proposal *esi_adviser_proposals(
    const struct esi_adviser *adviser,
    size_t *ret_count)
{
    *ret_count = adviser->count;
    return adviser->proposals;
}

const struct esi_applier *esi_adviser_applier(const struct esi_adviser *adviser)
{
    return adviser->applier;
}

bool esi_adviser_is_switchable(const struct esi_adviser *adviser)
{
    return adviser->rows.processes > 0;
}

/* --- Opening ---------------------------------------------------------------------- */

static int add_server(struct esi_tree_plan *plan, const struct es_server_info *info)
{
    struct esi_tree_host *host;

    if (ESI_ARRAY_RESERVE(plan->hosts, plan->host_capacity, plan->host_count + 1) < 0)
        return -ENOMEM;
    host = &plan->hosts[plan->host_count++];
    memcpy(host->name, info->host, sizeof host->name);
    memcpy(host->cluster, info->cluster, sizeof host->cluster);
    memcpy(host->gateway, info->gateway, sizeof host->gateway);
    return 0;
}

/* Clusters and gateways: those of the rules, from which ranks build their trees, or
 * else those of the servers. */
static int find_places(struct esi_adviser *adviser)
{
    struct es_servers *servers = adviser->hosts.servers;
    struct esi_tree_plan *places = &adviser->places;
    struct es_server_info info;
    size_t count = adviser->has_plan ? adviser->plan.host_count : 0;

    if (count > 0) {
        places->hosts = calloc(count, sizeof *places->hosts);
        if (!places->hosts)
            return -ENOMEM;
        memcpy(places->hosts, adviser->plan.hosts, count * sizeof *places->hosts);
        places->host_count = count;
        return 0;
    }
    for (size_t i = 0; servers && es_servers_at(servers, i, &info) == 0; i++)
        if (add_server(places, &info) < 0)
            return -ENOMEM;
    return 0;
}

/* The error bound of a server's clock is half of the round-trip time. */
static void add_round_trips(struct esi_adviser *adviser)
{
    struct es_servers *servers = adviser->hosts.servers;
    struct es_server_info home;
    struct es_server_info info;
    bool found = false;

    for (size_t i = 0; servers && !found && es_servers_at(servers, i, &home) == 0; i++)
        found = home.home;
    for (size_t i = 0; found && es_servers_at(servers, i, &info) == 0; i++)
        if (info.clock_known && !info.home)
            esi_collectives_advice_add_round_trip(adviser->advice, home.host, info.host,
                                                  2 * info.clock_error_ns);
}

/* Whether there is a rule that builds trees. */
static bool has_trees(const struct esi_adviser *adviser)
{
    for (size_t i = 0; adviser->has_plan && i < adviser->plan.rules.count; i++)
        if (adviser->plan.rules.rules[i].shape != ES_TREE_LIBRARY)
            return true;
    return false;
}

/* The ranks may be about to start. */
static int check_switchable(struct esi_adviser *adviser, struct es_error *error)
{
    static const struct timespec pause = {.tv_nsec = 100000000};

    for (int i = 0; i < 30 && adviser->rows.processes == 0; i++) {
        nanosleep(&pause, NULL);
        if (refresh_rules(adviser) < 0)
            break;
    }
    if (adviser->rows.processes == 0)
        return es_error_set(error, -ENOTSUP,
                            "the run's collective operations cannot be switched; start "
                            "it with --trees");
    if (adviser->rows.alive == 0)
        return es_error_set(error, -ESRCH, "run '%s' has ended",
                            es_run_name(adviser->hosts.run));
    return 0;
}

static int on_instance(void *data, const struct esi_collective_instance *instance)
{
    struct esi_adviser *adviser = data;

    return esi_collectives_advice_add(adviser->advice, instance);
}

/* Adds the elements up to this one, and their processes. */
static int add_origins(struct esi_adviser *adviser,
                       const struct es_scope *scope,
                       uint32_t last)
{
    struct esi_causality *messages = esi_collectives_advice_messages(adviser->advice);
    uint32_t number = (uint32_t)adviser->origin_count;
    int result = ESI_ARRAY_RESERVE(adviser->processes, adviser->origin_capacity,
                                   (size_t)last + 1);

    for (; number <= last && result >= 0; number++) {
        const struct es_origin *origin = es_scope_origin(scope, number);
        struct esi_run_process *process;

        result = esi_run_follow_process(esi_causality_run(messages), origin, &process);
        if (result >= 0)
            result = esi_causality_add_element(messages, process, origin->thread,
                                               &(uint32_t){0});
        if (result >= 0)
            adviser->processes[adviser->origin_count++] = process;
    }
    return result;
}

static int on_tuple(void *data,
                    struct esi_follower *follower,
                    uint32_t origin,
                    const struct esi_causal_tuple *tuple)
{
    struct esi_adviser *adviser = data;
    struct esi_causality *messages = esi_collectives_advice_messages(adviser->advice);
    uint16_t communicator = tuple->tuple.communicator;
    int result = 0;

    if (origin >= adviser->origin_count)
        result = add_origins(adviser, esi_follower_scope(follower), origin);
    if (result >= 0 && communicator != ES_COMMUNICATOR_NONE &&
        !esi_run_member(adviser->processes[origin], communicator))
        result = esi_run_follow_communicator(esi_causality_run(messages), follower,
                                             origin, adviser->processes[origin],
                                             communicator, false);
    return result < 0 ? result
                      : esi_collectives_advice_add_tuple(
                            adviser->advice, adviser->processes[origin], origin, tuple);
}

static int on_read(void *data)
{
    struct esi_adviser *adviser = data;

    return esi_causality_advance(esi_collectives_advice_messages(adviser->advice));
}

static int prepare_adviser(struct esi_adviser *adviser,
                           struct esi_collectives_monitor_config *config)
{
    struct esi_collectives_advice_config advice = {.plan = &adviser->places};
    uint32_t *classes = &config->scope.view.selection.classes;
    int code = find_places(adviser);

    if (code == 0)
        code = esi_collectives_advice_create(&advice, &adviser->advice);
    if (code == 0 && adviser->options->apply)
        code = esi_applier_create(&adviser->hosts, adviser->options->after,
                                  &adviser->applier);
    if (code < 0)
        return code;
    add_round_trips(adviser);
    config->listener = (struct esi_collectives_listener){.on_instance = on_instance,
                                                         .on_tuple = on_tuple,
                                                         .on_read = on_read,
                                                         .data = adviser};
    *classes |=
        1u << ES_CLASS_CONTRIBUTE | 1u << ES_CLASS_ARRIVAL | 1u << ES_CLASS_DEPARTURE;
    /* Without trees, link costs come from the messages of the program. */
    if (!has_trees(adviser))
        *classes |= 1u << ES_CLASS_SEND | 1u << ES_CLASS_RECEIVE;
    return 0;
}

int esi_adviser_open(const struct esi_tree_hosts *hosts,
                     const struct esi_collectives_advise *options,
                     struct esi_collectives_monitor_config *config,
                     struct es_error *error,
                     struct esi_adviser **ret_adviser)
{
    struct esi_adviser *adviser = calloc(1, sizeof *adviser);
    int code;

    if (!adviser)
        return -ENOMEM;
    adviser->hosts = *hosts;
    adviser->options = options;
    code = refresh_rules(adviser);
    if (code == 0 && options->apply)
        code = check_switchable(adviser, error);
    if (code == 0)
        code = prepare_adviser(adviser, config);
    if (code < 0) {
        config->listener = (struct esi_collectives_listener){.data = NULL};
        esi_adviser_close(adviser);
        return code;
    }
    *ret_adviser = adviser;
    return 0;
}

void esi_adviser_close(struct esi_adviser *adviser)
{
    if (!adviser)
        return;
    esi_applier_destroy(adviser->applier);
    esi_collectives_advice_destroy(adviser->advice);
    esi_tree_plan_fini(&adviser->places);
    if (adviser->has_plan)
        esi_tree_plan_fini(&adviser->plan);
    esi_tree_rows_fini(&adviser->rows);
    free(adviser->processes);
    free(adviser->proposals);
    free(adviser->commands);
    free(adviser);
}
