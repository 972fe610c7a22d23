// SPDX-License-Identifier: GPL-2.0
/* socket_kind.c - see socket_kind.h. */
#include <linux/kernel.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "fast/socket_kind.h"

#define SOCKET_ALL                                                                                 \
	(COSY_SOCKET_STREAMS | COSY_SOCKET_COPIES | COSY_SOCKET_READS | COSY_SOCKET_KEEPS)
#define SOCKET_NO_COPIES (SOCKET_ALL & ~COSY_SOCKET_COPIES)

/*
 * Each line was compared with ordinary calls by tests/vm/guest/descriptors.c, move_socket.c and
 * view_lend.c.  Each supported kernel has to pass them before a line is added.
 */
static const struct {
	u16 family, type, protocol;
	u32 does;
} socket_kinds[] = {
	{ AF_UNIX, SOCK_STREAM, 0, SOCKET_ALL },
	{ AF_UNIX, SOCK_DGRAM, 0, COSY_SOCKET_READS },
	{ AF_UNIX, SOCK_SEQPACKET, 0, COSY_SOCKET_READS },
	{ AF_INET, SOCK_STREAM, IPPROTO_TCP, SOCKET_ALL },
	{ AF_INET6, SOCK_STREAM, IPPROTO_TCP, SOCKET_ALL },
	{ AF_INET, SOCK_STREAM, IPPROTO_MPTCP, SOCKET_NO_COPIES },
	{ AF_INET6, SOCK_STREAM, IPPROTO_MPTCP, SOCKET_NO_COPIES },
	{ AF_INET, SOCK_DGRAM, IPPROTO_UDP, COSY_SOCKET_READS },
	{ AF_INET6, SOCK_DGRAM, IPPROTO_UDP, COSY_SOCKET_READS },
	{ AF_TIPC, SOCK_STREAM, 0, SOCKET_NO_COPIES },
};

/*
 * Returns the abilities that remain under a protocol above TCP: TLS sends in its own way, and may
 * end a connection whose receive fails; other protocols frame.
 */
static u32 socket_kind_above(const struct sock *sk)
{
	const struct tcp_ulp_ops *above = READ_ONCE(inet_csk(sk)->icsk_ulp_ops);

	if (likely(!above))
		return SOCKET_ALL;
	return strcmp(above->name, "tls") ? 0 : COSY_SOCKET_STREAMS | COSY_SOCKET_READS;
}

u32 cosy_socket_kind(const struct socket *socket)
{
	const struct sock *sk = socket->sk;
	u32 i;

	if (unlikely(!sk))
		return 0;
	for (i = 0; i < ARRAY_SIZE(socket_kinds); i++) {
		if (socket_kinds[i].family != sk->sk_family ||
		    socket_kinds[i].type != socket->type ||
		    socket_kinds[i].protocol != sk->sk_protocol)
			continue;
		if (socket_kinds[i].protocol == IPPROTO_TCP)
			return socket_kinds[i].does & socket_kind_above(sk);
		return socket_kinds[i].does;
	}
	return 0;
}
