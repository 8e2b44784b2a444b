// Faults of a watched line: what a test call names, and what corrects it. The remedy is the text of the alert.

export interface LineFault {
  /** What a caller notices. */
  summary: string;
  /** What to do first. No numbers, names or addresses: it is a label of a metric. */
  remedy: string;
  /** Whether one test call proves it. Others need two in a row: a busy far end or network is no fault of the line. */
  isCertain: boolean;
}

/** In the order in which a call meets them. */
export const lineFaults = {
  pbx_unreachable: {
    summary: 'The PBX cannot be reached',
    remedy:
      'Start Asterisk and its HTTP server (http show status), and open its port for the gateway in the firewall.',
    isCertain: false,
  },
  pbx_login: {
    summary: 'The PBX refuses the user of the gateway',
    remedy:
      'Store the user and password of ari.conf in the telephony configuration; after a change there run module reload res_ari.so.',
    isCertain: true,
  },
  pbx_rights: {
    summary: 'The user of the gateway may only read at the PBX',
    remedy: 'Set read_only = no for the user in ari.conf, then run module reload res_ari.so.',
    isCertain: true,
  },
  pbx_connection: {
    summary: 'The gateway has no connection for calls to the PBX',
    remedy:
      'Run npx patchbay doctor for the configuration: Application and Events say what keeps the connection from opening.',
    isCertain: false,
  },
  pbx_setup: {
    summary: 'The PBX is not set up for calls of the gateway',
    remedy: 'Run npx patchbay doctor for the configuration: it names the line to change.',
    isCertain: false,
  },
  provider_login: {
    summary: 'The provider refuses the credentials',
    remedy: "Store the credentials that the provider's console shows now.",
    isCertain: true,
  },
  dial_failed: {
    summary: 'The provider does not place the call',
    remedy: "See the provider's status page, then run npx patchbay doctor for the configuration.",
    isCertain: false,
  },
  webhooks: {
    summary: "The provider's webhooks do not arrive, or fail their check",
    remedy:
      'Check PATCHBAY_PUBLIC_URL from another network, the proxy before the gateway, and the secret that verifies webhooks.',
    isCertain: false,
  },
  number_unrouted: {
    summary: 'No line of the dialplan takes the number',
    remedy: `Add the number to the context of the trunk: exten => NUMBER,1,Stasis(APPLICATION,inbound,\${EXTEN}), then dialplan reload.`,
    isCertain: true,
  },
  wrong_number: {
    summary: 'The call arrives as another number',
    remedy: `Correct the number that the dialplan passes to Stasis: after a Goto it must be the number itself in place of \${EXTEN}; then dialplan reload.`,
    isCertain: true,
  },
  wrong_party: {
    summary: 'Somebody answers who is not the echo test',
    remedy:
      'Dial the number by hand: it must answer and echo at once. Correct the number of the line, or the route of the trunk.',
    isCertain: false,
  },
  answered_elsewhere: {
    summary: 'Something else answers the number: calls do not reach the gateway',
    remedy: `Let the line of the number that answers be Stasis(APPLICATION,inbound,\${EXTEN}), then dialplan reload.`,
    isCertain: true,
  },
  not_arrived: {
    summary: 'Calls to the number ring, and do not reach the gateway',
    remedy:
      'Put Stasis before what rings telephones in the lines of the number, then dialplan reload.',
    isCertain: false,
  },
  ended_early: {
    summary: 'The dialplan ends the call before it reaches the gateway',
    remedy:
      'Look for a Hangup, a condition or a missing priority before Stasis in the lines of the number (dialplan show).',
    isCertain: false,
  },
  busy: {
    summary: 'The far end of the line is busy',
    remedy: 'Give the test number more lines, or watch the line by another number.',
    isCertain: false,
  },
  no_answer: {
    summary: 'The far end of the line rings, and nobody answers',
    remedy: 'Let the test number answer by itself, such as by Answer and Echo in a dialplan.',
    isCertain: false,
  },
  trunk_unregistered: {
    summary: 'The endpoint of the trunk is missing or not registered at the PBX',
    remedy:
      'Check pjsip show registrations and pjsip show contacts; correct the endpoint in pjsip.conf or the dial template.',
    isCertain: true,
  },
  trunk_dead: {
    summary: 'The far end of the trunk does not reply',
    remedy:
      'Check pjsip show endpoints, the address of the trunk and the firewall for SIP, then call the operator of the trunk.',
    isCertain: false,
  },
  no_route: {
    summary: 'The trunk has no route to the number',
    remedy:
      'Dial the number by hand over the trunk, then correct the dial template, the dial pattern or the number of the line.',
    isCertain: false,
  },
  trunk_refused: {
    summary: 'The trunk refuses the call',
    remedy:
      "Ask the operator of the trunk: the account, the caller id or the destination is not permitted. The test's result has the cause.",
    isCertain: false,
  },
  trunk_congested: {
    summary: 'The trunk has no free channel',
    remedy:
      'Lower the concurrency of campaigns, or ask the operator of the trunk for more channels.',
    isCertain: false,
  },
  media_failed: {
    summary: 'The call has no media connection',
    remedy:
      'Run npx patchbay doctor for the configuration: Audio says which port, module or proxy stops the media.',
    isCertain: false,
  },
  codec: {
    summary: 'The audio is garbled: the ends use different codecs, or none that both have',
    remedy:
      'Allow ulaw and alaw alone at the endpoint of the trunk (allow = !all,ulaw,alaw), and set media_format to ulaw.',
    isCertain: false,
  },
  no_audio: {
    summary: 'Neither side hears the other',
    remedy:
      'Open the RTP ports of rtp.conf in the firewall; behind NAT set external_media_address, local_net and direct_media = no.',
    isCertain: false,
  },
  one_way_to_caller: {
    summary: 'One-way audio: callers do not hear the agent',
    remedy:
      'NAT or a firewall drops what the PBX sends: set external_media_address, rtp_symmetric = yes and direct_media = no at the endpoint.',
    isCertain: false,
  },
  one_way_from_caller: {
    summary: 'One-way audio: the agent does not hear callers',
    remedy:
      "NAT or a firewall drops what the far end sends: open rtp.conf's ports toward the PBX, and set external_media_address.",
    isCertain: false,
  },
  faint: {
    summary: 'The audio is too quiet',
    remedy:
      'Remove the gain at the trunk or the telephone (VOLUME, rxgain, txgain), and name formats for Local channels.',
    isCertain: false,
  },
  loss: {
    summary: 'Audio is lost: speech has holes',
    remedy:
      'Look for packet loss between the PBX and the trunk (pjsip show channelstats, mtr), and give the machine of the PBX more processor time.',
    isCertain: false,
  },
  late_audio: {
    summary: 'The audio is late: the parties talk over each other',
    remedy:
      'Look for a full queue or a long way: the jitter buffer of the trunk, a conference before the call, a VPN, an overloaded PBX.',
    isCertain: false,
  },
  jitter: {
    summary: 'The audio arrives in bursts',
    remedy:
      'Set JITTERBUFFER(adaptive)=default before Stasis, and give voice priority in the network (DSCP EF).',
    isCertain: false,
  },
  keys: {
    summary: 'Keys (DTMF) are lost',
    remedy:
      'Set dtmf_mode = rfc4733 at the endpoint of the trunk, or auto_info or inband if its operator says so.',
    isCertain: false,
  },
} as const satisfies Record<string, LineFault>;

export type LineFaultCode = keyof typeof lineFaults;

export const lineFaultCodes = Object.keys(lineFaults) as LineFaultCode[];

export function lineFaultOf(code: LineFaultCode): LineFault {
  return lineFaults[code];
}
