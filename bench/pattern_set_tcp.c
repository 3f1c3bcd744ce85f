/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_set_tcp.c - two clients that send to a server over sockets (Nichols, 3.5).
 *
 * The thesis states: 303 events on 8 traces, most of them transfers; a trace for each
 * process and each socket; texts and the order of the first events (table 3.1); a
 * connection is established by five pairs of events; a client puts its data on the
 * trace of its stream, from which the server takes it, and the server can send as well
 * (figure 3.9).  One connection is first, one last, one client makes the final
 * transfer.
 *
 * The rest follows from the counts of comparisons (tables 5.1 and 6.2; a test of events
 * with a partner costs 4 there): 58 consecutive pairs are 30 sends of each client.
 * From case 3 (7,672 = 4 * 1,918 = 4 * (2 * 494 + 30 + 900)): no send of client 2
 * precedes one of client 1, and of client 2's only the last is preceded by one of
 * client 1.  From case 5 (59,400 = 4 * 30 * 495): the server takes each piece of client
 * 1 as it arrives, but takes nothing of client 2 before that has sent everything.  The
 * server therefore serves one client after the other, and greets each when it has
 * accepted it; client 2, which connected early, waits for the greeting before its last
 * piece.
 */
#include "config.h"

#include <stdio.h>

#include "bench/pattern_set_maker.h"

enum { PIECES = 30, CLIENTS = 2, FIRST_FD = 16, PORT = 8123 };

struct client {
    const char *names[3]; /* of the traces below */
    uint32_t pid;
    uint32_t process;
    uint32_t socket; /* its own */
    uint32_t stream; /* carries the data; created when the server accepts */
};

struct tcp {
    struct pattern_set_maker *maker;
    uint32_t server;
    uint32_t listener;
    struct client clients[CLIENTS];
};

static const char address[] = "IP: 9.26.109.213";

/* A process begins and creates a socket; both are traces. */
static void begin_process(struct tcp *tcp, uint32_t process, uint32_t pid, uint32_t fd)
{
    struct pattern_set_maker *maker = tcp->maker;
    struct es_event_id created;
    char text[80];

    snprintf(text, sizeof text, "Host: orinoco PID: %u", pid);
    set_unary(maker, process, "Begin", text);
    snprintf(text, sizeof text, "Created socket: Host: orinoco PID: %u FD: %u", pid,
             fd);
    created = set_send(maker, process, "Create_socket", text);
    snprintf(text, sizeof text, "New socket: %s PID: %u FD: %u", address, pid, fd);
    set_receive(maker, process + 1, "New_socket", text, created);
}

/* The server makes a request to its listener. */
static void ask_listener(struct tcp *tcp,
                         const char *type,
                         const char *text,
                         const char *answer_type,
                         const char *answer_text)
{
    struct es_event_id asked = set_send(tcp->maker, tcp->server, type, text);

    set_receive(tcp->maker, tcp->listener, answer_type, answer_text, asked);
}

static void accept_one(struct tcp *tcp)
{
    char text[80];

    snprintf(text, sizeof text, "Accepting on: %s Port: %d", address, PORT);
    ask_listener(tcp, "Accept", text, "Accept_stream", text);
}

static void listen_on_port(struct tcp *tcp)
{
    char text[80], answer[80];

    ask_listener(tcp, "Set_option", "Reuse address", "Set_option_stream", NULL);
    snprintf(text, sizeof text, "Bound to port: %d", PORT);
    snprintf(answer, sizeof answer, "Bound to %s Port: %d", address, PORT);
    ask_listener(tcp, "Bind", text, "Bind_stream", answer);
    snprintf(text, sizeof text, "Listening on port %d", PORT);
    snprintf(answer, sizeof answer, "Listening on %s Port: %d", address, PORT);
    ask_listener(tcp, "Listen", text, "Listen_stream", answer);
}

/* The client makes a request to its socket, and the socket to the listener. */
static void connect_client(struct tcp *tcp, const struct client *client)
{
    set_message(tcp->maker, client->process, "Connect", client->socket,
                "Connect_stream");
    set_message(tcp->maker, client->socket, "Request", tcp->listener, "Request_stream");
}

/* The listener creates the stream and passes it to the server, which sends a
 * greeting. */
static void finish_accept(struct tcp *tcp, const struct client *client)
{
    struct pattern_set_maker *maker = tcp->maker;

    set_message(maker, tcp->listener, "New_stream", client->stream, "Begin_stream");
    set_message(maker, tcp->listener, "Accept_done_stream", tcp->server, "Accept_done");
    set_message(maker, tcp->server, "Send", client->stream, "Send_stream");
}

static void read_greeting(struct tcp *tcp, const struct client *client)
{
    set_message(tcp->maker, client->stream, "Recv_stream", client->process, "Recv");
}

static void send_piece(struct tcp *tcp, const struct client *client)
{
    set_message(tcp->maker, client->process, "Send", client->stream, "Send_stream");
}

static void take_piece(struct tcp *tcp, const struct client *client)
{
    set_message(tcp->maker, client->stream, "Recv_stream", tcp->server, "Recv");
}

/* The client closes the connection, then the server does. */
static void close_connection(struct tcp *tcp, const struct client *client)
{
    struct pattern_set_maker *maker = tcp->maker;

    set_message(maker, client->process, "Close", client->socket, "Close_stream");
    set_message(maker, client->socket, "End", client->stream, "End_stream");
    set_message(maker, client->stream, "End_of_data_stream", tcp->server,
                "End_of_data");
    set_message(maker, tcp->server, "Close", client->stream, "Close_stream");
    set_unary(maker, client->process, "Exit", NULL);
}

static void tell_traces(struct tcp *tcp)
{
    tcp->server = set_trace(tcp->maker, "Server");
    tcp->listener = set_trace(tcp->maker, "Listen Socket");
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &tcp->clients[i];

        client->process = set_trace(tcp->maker, client->names[0]);
        client->socket = set_trace(tcp->maker, client->names[1]);
        client->stream = set_trace(tcp->maker, client->names[2]);
    }
}

static void serve_first(struct tcp *tcp, const struct client *client)
{
    connect_client(tcp, client);
    finish_accept(tcp, client);
    read_greeting(tcp, client);
    for (int piece = 0; piece < PIECES; piece++) {
        send_piece(tcp, client);
        take_piece(tcp, client);
    }
    close_connection(tcp, client);
}

/* Data sent before the connection is accepted waits in the stream. */
static void serve_second(struct tcp *tcp, const struct client *client)
{
    connect_client(tcp, client);
    accept_one(tcp);
    finish_accept(tcp, client);
    for (int piece = 0; piece + 1 < PIECES; piece++)
        send_piece(tcp, client);
    read_greeting(tcp, client);
    send_piece(tcp, client);
    for (int piece = 0; piece < PIECES; piece++)
        take_piece(tcp, client);
    close_connection(tcp, client);
}

void make_tcp_set(struct pattern_set_maker *maker)
{
    struct tcp tcp = {
        .maker = maker,
        .clients = {{.names = {"Client1", "Socket1", "DataStream1"}, .pid = 9770},
                    {.names = {"Client2", "Socket2", "DataStream2"}, .pid = 9776}}};

    tell_traces(&tcp);
    begin_process(&tcp, tcp.server, 9751, FIRST_FD);
    for (uint32_t i = 0; i < CLIENTS; i++)
        begin_process(&tcp, tcp.clients[i].process, tcp.clients[i].pid,
                      FIRST_FD + 2 * (i + 1));
    listen_on_port(&tcp);
    accept_one(&tcp);
    serve_first(&tcp, &tcp.clients[0]);
    serve_second(&tcp, &tcp.clients[1]);
    accept_one(&tcp); /* waits for a third client, which does not connect */
}
