// What the addon alone has, told as exports.h tells what WebAssembly has as well.

ADDRESS(socketReceived, socket_received, 0)
ADDRESS(socketOutgoing, socket_outgoing, 0)
NUMBER(socketBytesMax, socket_bytes_max, 0)
NUMBER(socketReceive, socket_receive, 1)
NUMBER(socketSend, socket_send, 2)
