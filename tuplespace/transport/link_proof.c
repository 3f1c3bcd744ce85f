/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Proves to each other that both sides have the run's key, without showing it. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "tuplespace/transport/link_private.h"

#define LABEL_BYTES 32

int esi_proof_challenge(unsigned char out[ESI_TOKEN_BYTES])
{
    if (getrandom(out, ESI_TOKEN_BYTES, 0) != ESI_TOKEN_BYTES)
        return errno ? -errno : -EIO;
    return 0;
}

int esi_proof_make(const struct esi_run_key *key,
                   bool by_server,
                   const unsigned char client[ESI_HELLO_BYTES],
                   const unsigned char server[ESI_HELLO_BYTES],
                   unsigned char out[ESI_TOKEN_BYTES])
{
    /* The label keeps a proof from being sent back as one's own. */
    unsigned char text[LABEL_BYTES + 2 * ESI_HELLO_BYTES] = {0};
    unsigned length = 0;

    strcpy((char *)text, by_server ? "eventspace server" : "eventspace client");
    memcpy(text + LABEL_BYTES, client, ESI_HELLO_BYTES);
    memcpy(text + LABEL_BYTES + ESI_HELLO_BYTES, server, ESI_HELLO_BYTES);
    if (!HMAC(EVP_sha256(), key->bytes, ES_RUN_KEY_BYTES, text, sizeof text, out,
              &length))
        return -ENOMEM;
    return length == ESI_TOKEN_BYTES ? 0 : -EIO;
}

bool esi_proof_is_equal(const unsigned char a[ESI_TOKEN_BYTES],
                        const unsigned char b[ESI_TOKEN_BYTES])
{
    return CRYPTO_memcmp(a, b, ESI_TOKEN_BYTES) == 0;
}
