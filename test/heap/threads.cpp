/* SPDX-License-Identifier: BSD-3-Clause */
/* threads - threads allocate, pass blocks to each other and come and go, while the process forks and loads a plugin. */
#include "heap_test.h"

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<unsigned char *> box[4096];
static std::atomic<int> damaged, foreign;

// A block carries its length in front and its length's last byte at its end.
static void hammer(unsigned seed) {
    for (int i = 0; i < 4000; i++) {
        seed = seed * 1664525u + 1013904223u;
        size_t bytes = seed >> 28 ? 16 + (seed >> 22) : 100000 + (seed >> 12);
        auto *block = static_cast<unsigned char *>(malloc(bytes / 2 + 16));
        block = static_cast<unsigned char *>(realloc(block, bytes));
        memcpy(block, &bytes, sizeof bytes);
        block[bytes - 1] = static_cast<unsigned char>(bytes);
        auto *other = box[(seed >> 5) & 4095].exchange(block);
        if (other == nullptr) continue;
        memcpy(&bytes, other, sizeof bytes);
        if (other[bytes - 1] != static_cast<unsigned char>(bytes)) damaged++;
        free(other);
    }
    void *mine = malloc(long_block);
    if (!in_region(mine)) foreign++;
    free(mine);
}

static void child() {
    for (size_t bytes = 10; bytes < size_t{8} << 20; bytes *= 3) {
        void *block = malloc(bytes);
        memset(block, 1, bytes);
        free(block);
    }
    std::thread([] { free(malloc(long_block)); }).join();
    _exit(0);
}

int main() {
    auto stop = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    int forks = 0, rounds = 0;
    for (; std::chrono::steady_clock::now() < stop; rounds++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++) threads.emplace_back(hammer, static_cast<unsigned>(rounds * 4 + i));
        void *plugin = dlopen(PLUGIN, RTLD_NOW);
        expect(plugin != nullptr, "dlopen");
        if (plugin != nullptr) {
            auto allocate = reinterpret_cast<void *(*)(size_t)>(dlsym(plugin, "plugin_allocate"));
            free(allocate(100));
            dlclose(plugin);
        }
        pid_t pid = fork();
        if (pid == 0) child();
        int status = -1;
        expect(waitpid(pid, &status, 0) == pid && status == 0, "a child forked beside busy threads");
        forks++;
        for (auto &thread : threads) thread.join();
    }
    printf("%d rounds, %d forks\n", rounds, forks);
    expect(damaged == 0, "no block was damaged");
    expect(foreign == 0, "every thread's long blocks are in the region");
    return failures > 0;
}
