// Paths of media sockets. Below this prefix follow a run and its token, or a PBX and its application.
// Source: contract §7.4.

export const MEDIA_PATH = '/api/v1/telephony/ws/';
