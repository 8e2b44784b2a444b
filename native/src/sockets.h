// Reads and writes of TCP connections past the event loop; src/transport/direct-socket.ts uses them.
#ifndef SOCKETS_H
#define SOCKETS_H

#include <stdint.h>

uint8_t *socket_received(void);
uint8_t *socket_outgoing(void);
int32_t socket_bytes_max(void);
int32_t socket_receive(int32_t descriptor);
int32_t socket_send(int32_t descriptor, int32_t bytes);

#endif
