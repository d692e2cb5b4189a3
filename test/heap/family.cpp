/* SPDX-License-Identifier: BSD-3-Clause */
/* family - every way to get memory from malloc's family gives whole blocks, aligned and zeroed: long ones of the region, short ones
 * of the C library, unless all are to be of the region. */
#include "heap_test.h"

#include <cerrno>
#include <climits>
#include <malloc.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

static void mine(const void *address, const char *what) {
    expect(address != nullptr, what);
    expect(in_region(address), what);
}

static void in_place(const void *address, size_t bytes, const char *what) {
    expect(address != nullptr, what);
    expect(in_region(address) == is_ours(bytes), what);
}

struct Early {
    void *block = malloc(100);
} early; // before main

static thread_local std::vector<int> per_thread(1000);

// Writes both ends and the middle: 3 GiB stay sparse.
static void sizes() {
    for (size_t bytes = 1; bytes <= size_t{3} << 30; bytes = bytes * 3 + 1) {
        auto *block = static_cast<unsigned char *>(malloc(bytes));
        in_place(block, bytes, "malloc");
        if (block == nullptr) continue;
        block[0] = block[bytes / 2] = block[bytes - 1] = 7;
        in_place(block + bytes - 1, bytes, "malloc, last byte");
        expect(malloc_usable_size(block) >= bytes, "malloc_usable_size");
        free(block);
    }
    for (size_t bytes = long_block - 1; bytes <= long_block; bytes++) in_place(malloc(bytes), bytes, "malloc, at the border");
    in_place(malloc(0), 0, "malloc(0)");
    void *volatile sparse = malloc(size_t{3} << 30);
    mine(sparse, "malloc(3 GiB)");
    free(sparse);
    errno = 0;
    volatile size_t absurd = SIZE_MAX / 2;
    expect(malloc(absurd) == nullptr && errno == ENOMEM, "an absurd size gives NULL and ENOMEM");
    expect(pvalloc(SIZE_MAX) == nullptr && errno == ENOMEM, "pvalloc of an absurd size");
}

static void alignments() {
    for (size_t alignment = 8; alignment <= 64 << 20; alignment *= 2) {
        for (size_t bytes : {size_t{1}, alignment, size_t{100000}, size_t{5} << 20}) {
            void *block = nullptr;
            expect(posix_memalign(&block, alignment, bytes) == 0, "posix_memalign");
            void *blocks[] = {block, aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment),
                              memalign(alignment, bytes)};
            in_place(block, bytes, "aligned memory");
            for (void *each : blocks) {
                expect(reinterpret_cast<uintptr_t>(each) % alignment == 0, "alignment");
                memset(each, 1, bytes);
                free(each);
            }
        }
    }
    auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void *a = valloc(100), *b = pvalloc(100);
    void *c = valloc(long_block), *d = pvalloc(long_block - 1);
    in_place(a, 100, "valloc");
    in_place(b, 4096, "pvalloc");
    mine(c, "valloc, long");
    mine(d, "pvalloc, long");
    expect(reinterpret_cast<uintptr_t>(a) % page == 0 && reinterpret_cast<uintptr_t>(b) % page == 0, "page alignment");
    expect(malloc_usable_size(b) >= page, "pvalloc rounds up to whole pages");
    for (void *each : {a, b, c, d}) free(each);
    for (size_t odd : {0, 1, 24}) { // as the C library has it
        void *block = memalign(odd, long_block);
        expect(block != nullptr && reinterpret_cast<uintptr_t>(block) % 16 == 0, "memalign with an odd alignment");
        free(block);
        free(aligned_alloc(odd, long_block)); // some versions refuse it
    }
}

// A loop that reads the same element of many arrays takes five times as long if all begin at the same place of a page, because
// their lines then lie in one set of the cache. They begin with a line.
static void spread() {
    enum { blocks = 64, line = 64, page = 4096 };
    for (size_t bytes = 16 << 10; bytes < 4 << 20; bytes += bytes / 5) {
        if (!is_ours(bytes)) continue;
        void *block[blocks];
        bool used[page / line] = {};
        int places = 0;
        for (auto &each : block) {
            each = malloc(bytes);
            auto at = reinterpret_cast<uintptr_t>(each) % page;
            expect(at % line == 0, "a long block begins with a line");
            places += !used[at / line];
            used[at / line] = true;
        }
        expect(places >= 16, "long blocks begin at many places of a page");
        for (void *each : block) free(each);
    }
}

// A long block whose alignment is at most a line comes from the cache of the thread, as malloc's do: the one freed last.
static void aligned_again() {
    const size_t bytes = long_block;
    for (size_t alignment = 16; alignment <= 64; alignment *= 2) {
        void *last = malloc(bytes), *next = nullptr;
        for (int way = 0; way < 3; way++) {
            auto before = reinterpret_cast<uintptr_t>(last);
            free(last);
            if (way == 0) next = memalign(alignment, bytes);
            if (way == 1) next = aligned_alloc(alignment, bytes);
            if (way == 2) expect(posix_memalign(&next, alignment, bytes) == 0, "posix_memalign, again");
            expect(reinterpret_cast<uintptr_t>(next) == before, "an aligned block from the cache of the thread");
            last = next;
        }
        free(last);
    }
    void *block = nullptr;
    expect(posix_memalign(&block, 48, bytes) == EINVAL && posix_memalign(&block, 4, bytes) == EINVAL,
           "posix_memalign refuses what is no alignment");
}

static void contents() {
    unsigned char *block = nullptr;
    size_t had = 0;
    for (size_t bytes = 10; bytes < size_t{40} << 20; bytes *= 7) { // grows through every kind of block
        block = static_cast<unsigned char *>(realloc(block, bytes));
        in_place(block, bytes, "realloc");
        for (size_t i = 0; i < had; i++) {
            if (block[i] != static_cast<unsigned char>(i * 31)) {
                expect(false, "realloc keeps the contents");
                break;
            }
        }
        for (size_t i = had; i < bytes; i++) block[i] = static_cast<unsigned char>(i * 31);
        had = bytes;
    }
    block = static_cast<unsigned char *>(realloc(block, 100));
    expect(block[99] == static_cast<unsigned char>(99 * 31), "realloc to less");
    free(block);
    for (size_t from : {100, long_block - 1, +long_block, 3 * long_block}) { // to and fro over the border
        for (size_t to : {1, long_block - 1, +long_block, 5 * long_block}) {
            auto *bytes = static_cast<unsigned char *>(memset(malloc(from), 0x3c, from));
            bytes = static_cast<unsigned char *>(realloc(bytes, to));
            size_t last = (from < to ? from : to) - 1;
            expect(bytes != nullptr && bytes[0] == 0x3c && bytes[last] == 0x3c, "realloc over the border");
            expect(malloc_usable_size(bytes) >= to, "realloc over the border: its size");
            if (to >= long_block) mine(bytes, "realloc over the border: its place");
            memset(bytes, 1, to);
            expect(realloc(bytes, 0) == nullptr, "realloc to nothing frees");
        }
    }
    // calloc of memory that was used before, of every kind, with a pause in which pages go back to the system
    for (int round = 0; round < 2; round++) {
        for (size_t bytes = 24; bytes < size_t{100} << 20; bytes *= 5) {
            for (int again = 0; again < 3; again++) {
                auto *zero = static_cast<unsigned char *>(calloc(bytes / 8, 8));
                in_place(zero, bytes / 8 * 8, "calloc");
                size_t end = bytes / 8 * 8, i = 0;
                while (i < end && zero[i] == 0) i++;
                expect(i == end, "calloc gives zeroes");
                memset(zero, 0xa5, end);
                free(zero);
            }
        }
        if (round == 0) usleep(1100000);
    }
    volatile size_t many = SIZE_MAX / 4;
    expect(calloc(many, 8) == nullptr, "calloc overflow");
}

static void libraries() {
    char *text = nullptr, *line = nullptr;
    size_t room = 0;
    in_place(early.block, 0, "a static constructor's malloc");
    in_place(strdup("x"), 0, "strdup");
    expect(asprintf(&text, "hello %d", 1) == 7, "asprintf");
    in_place(text, 0, "asprintf");
    FILE *file = fopen("/proc/self/status", "r");
    in_place(file, 0, "fopen");
    expect(file != nullptr && getline(&line, &room, file) > 0, "getline");
    in_place(line, 0, "getline");
    if (file != nullptr) fclose(file);
    in_place(realpath("/", nullptr), 0, "realpath");
    in_place(getcwd(nullptr, 0), PATH_MAX, "getcwd");
    void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    expect(plugin != nullptr, "dlopen");
    if (plugin != nullptr) {
        auto allocate = reinterpret_cast<void *(*)(size_t)>(dlsym(plugin, "plugin_allocate"));
        in_place(allocate(10), 0, "malloc in a plugin");
        mine(allocate(10 << 20), "a large malloc in a plugin");
    }
}

struct alignas(256) Wide {
    char bytes[300];
};

static void cplusplus() {
    in_place(new double[1000], 8000, "new");
    mine(new (std::nothrow) char[5 << 20], "new (nothrow)");
    auto *wide = new Wide[3];
    in_place(wide, sizeof(Wide[3]), "aligned new");
    expect(reinterpret_cast<uintptr_t>(wide) % 256 == 0, "aligned new's alignment");
    delete[] wide;
    std::vector<double> vector(1 << 20);
    mine(vector.data(), "std::vector");
    std::string string(1000, 'x');
    in_place(string.data(), 1001, "std::string");
    std::unordered_map<int, std::string> map;
    for (int i = 0; i < 1000; i++) map[i] = std::to_string(i);
    in_place(&map[500], 0, "std::unordered_map");
    in_place(per_thread.data(), 4000, "thread_local");
    void *left = nullptr;
    std::thread([&] {
        in_place(per_thread.data(), 4000, "another thread's thread_local");
        left = malloc(1 << 20);
        memset(left, 1, 1 << 20);
    }).join();
    mine(left, "the block of a thread that has gone");
    free(left);
    bool thrown = false;
    try {
        volatile size_t absurd = SIZE_MAX / 4;
        char *volatile none = new char[absurd];
        delete[] none;
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    expect(thrown, "new throws when there is no memory");
}

int main() {
    struct heap_region region;
    expect(heap_state(&region) == 0 && heap_why() == nullptr, "the heap is shared");
    expect(reinterpret_cast<uintptr_t>(region.base) % (2 << 20) == 0, "the region is 2 MiB aligned");
    sizes();
    alignments();
    spread();
    aligned_again();
    contents();
    libraries();
    cplusplus();
    void *other = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(!in_region(&region) && !in_region(&early) && !in_region(other), "stack, static memory and mmap are not in the region");
    return failures > 0;
}
