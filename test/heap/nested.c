/* SPDX-License-Identifier: BSD-3-Clause */
/* nested - a library that needs an executable stack: the address of a function within a function
 * is that of code on the stack (GCC). */
int nested(int number);

static __attribute__((noinline)) int call(int (*volatile function)(int), int number) {
    return function(number);
}

int nested(int number) {
    volatile int threefold = 3 * number;
    int add(int more) { return more + threefold; }
    return call(add, number);
}
