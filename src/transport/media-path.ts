// The paths of media sockets: below this one, with a run and its token, or with a PBX and its application.
// Source: contract §7.4.

export const MEDIA_PATH = '/api/v1/telephony/ws/';
