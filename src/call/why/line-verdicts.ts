// Verdicts on providers, PBXs, networks and media, in the form of verdicts.ts: why a call was not connected, or not heard.

import type { Verdict } from './explanation.ts';

/** Verdicts on calls that were never connected. `number` is the dialled one, `said` the provider's words. */
export const unreached = {
  callee_busy: {
    party: 'caller',
    summary: '{number} is busy ({said}).',
    advice: ['Call again later. Campaigns do so by their retry settings.'],
  },
  no_answer: {
    party: 'caller',
    summary: '{number} rang, and nobody answered ({said}).',
    advice: ['Call again later. Campaigns do so by their retry settings.'],
  },
  callee_unavailable: {
    party: 'caller',
    summary: '{number} cannot be reached at the moment: switched off, or not registered ({said}).',
    advice: [
      'Call again later. If {number} is an extension of the PBX, look whether it is registered.',
    ],
  },
  callee_rejected: {
    party: 'caller',
    summary: '{number} rejected the call ({said}).',
    advice: ['Do not call {number} again at once. The caller id {from} may be blocked there.'],
  },
  number_wrong: {
    party: 'caller',
    summary: 'There is no number {number} ({said}).',
    advice: [
      'Correct the number {number} where it comes from: the request or the contact list.',
      'If the number is right, {line} or the network behind it has no route to it: look at the dial pattern of the trunk.',
    ],
  },
  no_route: {
    party: 'pbx',
    summary: '{line} has no way to {number} ({said}).',
    advice: [
      'Look at the outbound route and the dial pattern for {number} at {line}: its dialplan or its trunk does not accept this number.',
    ],
  },
  trunk_dead: {
    party: 'carrier',
    summary: 'The far end of the trunk did not reply to the call to {number} ({said}).',
    advice: [
      'See whether the trunk of {line} is up: at an Asterisk `pjsip show endpoints` and `pjsip show registrations`. Then call the operator of the trunk.',
    ],
  },
  carrier_congested: {
    party: 'carrier',
    summary: 'The network could not carry the call to {number}: congestion ({said}).',
    advice: [
      'Call again later. If it goes on, the trunk or the account of {line} has too few channels: lower the concurrency, or ask the operator of the trunk.',
    ],
  },
  carrier_failed: {
    party: 'carrier',
    summary: 'The network failed to carry the call to {number} ({said}).',
    advice: [
      'Call again later. If it goes on, give the operator of the trunk of {line} this cause: {said}.',
    ],
  },
  carrier_refused: {
    party: 'carrier',
    summary: 'The network refused the call to {number} ({said}).',
    advice: [
      'The trunk or the account of {line} may not call {number}, or not with the caller id {from}: ask its operator, with this cause: {said}.',
    ],
  },
  codec_missing: {
    party: 'pbx',
    summary: 'The parties of the call have no codec in common ({said}).',
    advice: [
      'Allow ulaw or alaw at the endpoint of {line} and at the telephone, or load the module that converts the codec: {said}',
    ],
  },
  call_failed: {
    party: 'unknown',
    summary: '{line} reports that the call to {number} failed, and gives no cause ({said}).',
    advice: ['Look the call up at {line}; its id there is in call_id of gathered_context.'],
  },
  call_canceled: {
    party: 'unknown',
    summary: 'The call to {number} was cancelled before the answer ({said}).',
    advice: [],
  },
} as const satisfies Record<string, Verdict>;

/** Verdicts on faults of providers, PBXs and media. `message` is the text of the fault. */
export const lines = {
  provider_key_refused: {
    party: 'carrier',
    summary: '{line} refused the credentials of the telephony configuration: {message}',
    advice: ['Compare the credentials of the telephony configuration with those at {line}.'],
  },
  provider_refused_number: {
    party: 'carrier',
    summary: '{line} refused to call {number}: {message}',
    advice: ['Correct the number {number}, or allow its country or kind in the account at {line}.'],
  },
  provider_at_limit: {
    party: 'carrier',
    summary: '{line} is at its limit: {message}',
    advice: [
      'The account at {line} has reached a limit of calls, of calls per second, or of its credit: raise it there, or lower the concurrency here.',
    ],
  },
  provider_failed: {
    party: 'carrier',
    summary: '{line} did not place the call: {message}',
    advice: ['See the status page of {line}, then call again.'],
  },
  provider_refused: {
    party: 'carrier',
    summary: '{line} refused the request: {message}',
    advice: ['Correct what {line} names: {message}'],
  },
  dial_uncertain: {
    party: 'carrier',
    summary:
      '{line} gave no clear answer to the dial, and the call may have been placed: {message}',
    advice: ['Look the call to {number} up at {line} before calling again.'],
  },
  pbx_away: {
    party: 'pbx',
    summary: '{line} was not connected: {message}',
    advice: [
      'See whether Asterisk runs and the network between is up. `npx patchbay doctor --config {configuration}` examines the connection.',
    ],
  },
  pbx_misconfigured: {
    party: 'pbx',
    summary: '{line} cannot be used as it is set up: {message}',
    advice: ['`npx patchbay doctor --config {configuration}` names the line to change.'],
  },
  pbx_media_failed: {
    party: 'pbx',
    summary: '{line} opened no media for the call: {message}',
    advice: [
      'See whether the PBX reaches the gateway for media: `npx patchbay doctor --config {configuration}` tests it.',
    ],
  },
  pbx_restarted: {
    party: 'pbx',
    summary:
      'The connection to {line} was lost during the call{place}, at {at_ms} ms: Asterisk stopped, or the network between broke.',
    advice: [
      'Look into the log of the PBX and its system log for a restart or a crash at {time}.',
      'If Asterisk ran all the time, look at the network between it and the gateway.',
    ],
  },
  media_never_connected: {
    party: 'carrier',
    summary: 'The call was answered, and {line} opened no media to the gateway within {waited} s.',
    advice: [
      'See whether {line} reaches this gateway: PATCHBAY_PUBLIC_URL, its certificate, and websockets through the proxy before it. `npx patchbay doctor --config {configuration}` tests it.',
    ],
  },
  never_heard_of: {
    party: 'carrier',
    summary: '{line} took the call to {number} and reported neither an answer nor an end.',
    advice: [
      'See whether callbacks of {line} reach this gateway at PATCHBAY_PUBLIC_URL, and look the call up at {line}.',
    ],
  },
  media_lost: {
    party: 'carrier',
    summary: 'The media connection of {line} broke{place}, at {at_ms} ms, and did not come back.',
    advice: [
      'Look at the network and the proxy between {line} and the gateway at {time}: something closed the connection.',
    ],
  },
  media_broke_off: {
    party: 'unknown',
    summary:
      'The media connection of {line} broke{place}, at {at_ms} ms, and {line} said nothing more: the caller hung up, or the network failed.',
    advice: [
      'Look the call up at {line}: if it was not ended by the caller, look at the network and the proxy between {line} and the gateway at {time}.',
    ],
  },
  media_silent: {
    party: 'carrier',
    summary: '{line} opened the media connection and sent nothing over it.',
    advice: [
      'Look at what is between {line} and the gateway: the connection opens, and no message comes.',
    ],
  },
  media_malformed: {
    party: 'carrier',
    summary: '{line} sent media that do not follow the protocol{place}, at {at_ms} ms: {message}',
    advice: [
      'Record the call with `npx patchbay doctor --call` and report what {line} sent: {message}',
    ],
  },
  media_stalled: {
    party: 'carrier',
    summary: '{line} did not accept the audio of the agent{place}, at {at_ms} ms.',
    advice: ['The network to {line} is too slow or broken in one direction: look at it at {time}.'],
  },
  no_audio_in: {
    party: 'carrier',
    summary:
      'No audio of the caller arrived in the {seconds} s of the call, although the media were connected.',
    advice: [
      'One-way audio: look at NAT and firewall between the telephone and {line} (RTP ports, external_media_address, direct_media=no at an Asterisk).',
    ],
  },
  transfer_failed: {
    party: 'carrier',
    summary: 'The transfer to {destination} failed{place}, at {at_ms} ms: {problem}',
    advice: [
      'Call {destination} by hand from {line}. If that works, see which caller id and trunk the transfer uses.',
    ],
  },
  transfer_not_answered: {
    party: 'caller',
    summary: 'The transfer to {destination} reached nobody{place}, at {at_ms} ms: {problem}',
    advice: [
      'See that somebody answers at {destination}, or let the agent offer something else when it is busy.',
    ],
  },
} as const satisfies Record<string, Verdict>;
