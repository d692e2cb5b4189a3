/* SPDX-License-Identifier: BSD-3-Clause */
/* handover_socket - ranks send each other descriptors (SCM_RIGHTS over abstract datagram sockets),
 * for processes that may not open each other's /proc/PID/fd: other PID namespaces, or not dumpable.
 * Cost: p - 1 messages per rank, once. */
#define _GNU_SOURCE
#include "reach/host.h"

#include "reach/handover.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const double patience_seconds = 20;

struct address {
    struct sockaddr_un name;
    socklen_t length;
    /* Identifies this rank's letters, because any process on the machine can send to a socket. */
    uint64_t token;
};

struct handover_letter {
    uint64_t token;
    int32_t from;
};

/* Sends a letter with up to two descriptors. 0 or -errno. */
static int send_letter(int socket, const struct handover_letter *letter, const int *fds, int count,
                       const struct address *to) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct iovec body = {.iov_base = (void *)(uintptr_t)letter, .iov_len = sizeof *letter};
    struct sockaddr_un name = to->name;
    struct msghdr message = {
        .msg_name = &name, .msg_namelen = to->length, .msg_iov = &body, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        control.head.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, (size_t)count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Receives one letter; -EAGAIN: none is there, or it came from a process outside the team and was
 * dropped with its descriptors. fds[i] == -1: not sent. */
static int take_letter(int socket, const struct address *all, int p, int *from, int fds[2]) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct handover_letter letter = {0};
    struct iovec body = {.iov_base = &letter, .iov_len = sizeof letter};
    struct msghdr message = {.msg_iov = &body,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    fds[0] = fds[1] = -1;
    ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return -errno;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
    *from = letter.from;
    if (got == sizeof letter && letter.from >= 0 && letter.from < p &&
        letter.token == all[letter.from].token)
        return 0;
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0) close(fds[i]);
    return -EAGAIN;
}

/* Takes over the descriptors that rank `from` has sent. */
static int handover_socket_keep(struct team *team, int from, int fds[2], int *control_fd) {
    int region = 0, error = 0;
    if (from == 0) *control_fd = fds[region++]; /* rank 0 sends the control block first */
    if (team->names[from].bytes) {
        if (fds[region] < 0) return -EBADF;
        for (int writable = 0; writable < 2 && error == 0; writable++)
            error =
                peer_map(&team->names[from], fds[region], writable, &team->peers[writable][from]);
        close(fds[region]);
    }
    return error;
}

static int handover_socket_exchange(struct team *team, int socket, const struct address *all,
                                    int *control_fd) {
    int fds[2], count = 0, error = 0, sent = 1, kept = 1;
    if (team->me == 0) fds[count++] = *control_fd;
    if (team->names[team->me].bytes) fds[count++] = team->names[team->me].fd;
    struct handover_letter letter = {.token = all[team->me].token, .from = team->me};
    double until = clock_seconds() + patience_seconds;
    while ((sent < team->p || kept < team->p) && error == 0) {
        int in[2], from = 0, got, put = -EAGAIN;
        if (sent < team->p)
            put = send_letter(socket, &letter, fds, count, &all[(team->me + sent) % team->p]);
        if (put == 0) sent++;
        else if (put != -EAGAIN && put != -ENOBUFS) error = put;
        got = take_letter(socket, all, team->p, &from, in);
        if (got == 0) {
            error = handover_socket_keep(team, from, in, control_fd);
            kept++;
        } else if (got != -EAGAIN) error = got;
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        if (put != 0 && got != 0) poll(&wait, 1, 1);
        if (clock_seconds() > until) error = -ETIMEDOUT;
    }
    return error;
}

int handover_by_socket(struct team *team, const struct meeting *meeting, int *control_fd) {
    struct address mine = {.length = sizeof mine.name}, *all = calloc((size_t)team->p, sizeof *all);
    team->peers[0] = calloc((size_t)team->p, sizeof(uintptr_t));
    team->peers[1] = calloc((size_t)team->p, sizeof(uintptr_t));
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = -ENOTCONN;
    bool fine = fd >= 0 && all && team->peers[0] && team->peers[1] &&
                /* The kernel picks an abstract name. */
                bind(fd, (struct sockaddr *)&any, sizeof any.sun_family) == 0 &&
                getsockname(fd, (struct sockaddr *)&mine.name, &mine.length) == 0 &&
                getrandom(&mine.token, sizeof mine.token, 0) == sizeof mine.token;
    if (meet_agree(meeting, fine)) {
        error = meet_gather(meeting, &mine, all, sizeof mine);
        for (int writable = 0; writable < 2; writable++)
            team->peers[writable][team->me] = team_own_base(team, writable);
        if (!error) error = handover_socket_exchange(team, fd, all, control_fd);
    }
    meet_agree(meeting, true); /* the sockets must stay open until all ranks have received */
    if (fd >= 0) close(fd);
    free(all);
    return error;
}
