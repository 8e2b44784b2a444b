// Reads and writes of TCP connections for src/transport/direct-socket.ts: one call of the system each, nothing
// that waits. The addon's alone: WebAssembly has no sockets.

#include "sockets.h"

#include <errno.h>
#include <sys/socket.h>

#include "kernel.h"

// What one read can bring, and a little more than the longest frame with a length of 16 bits.
enum { BYTES_MAX = 65600 };
// Results that are no counts.
enum { NOTHING = -1, BROKEN = -2 };

static uint8_t received[BYTES_MAX] SHARED;
static uint8_t outgoing[BYTES_MAX] SHARED;

uint8_t *socket_received(void) { return received; }

uint8_t *socket_outgoing(void) { return outgoing; }

int32_t socket_bytes_max(void) { return BYTES_MAX; }

static int32_t result_of(ssize_t count) {
  if (count >= 0) return (int32_t)count;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? NOTHING : BROKEN;
}

int32_t socket_receive(int32_t descriptor) {
  return result_of(recv(descriptor, received, BYTES_MAX, MSG_DONTWAIT));
}

int32_t socket_send(int32_t descriptor, int32_t bytes) {
  if (bytes < 0 || bytes > BYTES_MAX) return BROKEN;
  return result_of(send(descriptor, outgoing, (size_t)bytes, MSG_DONTWAIT | MSG_NOSIGNAL));
}
