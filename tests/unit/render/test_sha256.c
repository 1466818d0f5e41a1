/* SHA-256 of NIST's examples, and of all lengths around a block's end. */
#include "render/backends/sha256.h"
#include "tests/tap.h"

static const char *digest_of(const void *data, size_t len)
{
    static char text[2 * SHA256_BYTES + 1];
    uint8_t digest[SHA256_BYTES];

    sha256(digest, data, len);
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

int main(void)
{
    static char many[1000000];
    uint8_t one[SHA256_BYTES], all[SHA256_BYTES] = {0};
    char sum[2 * SHA256_BYTES + 1];

    is_str(digest_of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
           "the digest of an empty text");
    is_str(digest_of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
           "the digest of one block");
    is_str(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
           "the digest of two blocks");
    memset(many, 'a', sizeof many);
    is_str(digest_of(many, sizeof many),
           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
           "the digest of a million bytes");
    /* As `for i in $(seq 0 199): sha256(a * i)`, all of them exclusive-ored. */
    for (size_t len = 0; len < 200; len++) {
        sha256(one, many, len);
        for (int i = 0; i < SHA256_BYTES; i++)
            all[i] ^= one[i];
    }
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(sum + 2 * i, 3, "%02x", all[i]);
    is_str(sum, "1e53d01fcb053c9fba4c03f03a78b0b779da5f12bc4d40f760a9266e8d377b15",
           "the digests of all lengths up to 199");
    return done_testing();
}
