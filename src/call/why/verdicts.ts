// The verdicts on calls: for each its party, a sentence and what to do. `{name}` is replaced by the finding's value of that
// name; an advice with a name that the finding does not have is left out. No conditions here: findings choose a verdict.

import type { Verdict } from './explanation.ts';
import { lines, unreached } from './line-verdicts.ts';

/** Verdicts on calls that ended as they should, or as somebody wanted. */
const ends = {
  in_progress: {
    party: 'nobody',
    summary: 'The call goes on{place}.',
    advice: [],
  },
  completed: {
    party: 'nobody',
    summary:
      'The conversation reached its end{place}, after {turns} of the caller and {seconds} s.',
    advice: [],
  },
  agent_ended: {
    party: 'nobody',
    summary:
      'The agent ended the call by a tool{place}, after {turns} of the caller and {seconds} s.',
    advice: [],
  },
  transferred: {
    party: 'nobody',
    summary: 'The caller was connected with {destination}, after {seconds} s with the agent.',
    advice: [],
  },
  said_goodbye: {
    party: 'nobody',
    summary: 'The caller said goodbye{place}, and the agent ended the call after {seconds} s.',
    advice: [],
  },
  caller_hung_up: {
    party: 'nobody',
    summary: 'The caller hung up{place}, after {turns} and {seconds} s. No fault is in the events.',
    advice: [],
  },
  operator_hung_up: {
    party: 'nobody',
    summary: 'The call was hung up in the console or over the API{place}, after {seconds} s.',
    advice: [],
  },
  voicemail: {
    party: 'nobody',
    summary: 'A machine answered ({answered_by}), and the agent is set to hang up on machines.',
    advice: ['To speak to machines, change the voicemail settings of the agent.'],
  },
  message_left: {
    party: 'nobody',
    summary: 'A voicemail answered ({answered_by}), and the agent left its message.',
    advice: [],
  },
  answered_by_other: {
    party: 'nobody',
    summary: 'No person came to the telephone ({reason}): the far end was last {answered_by}.',
    advice: [
      'What the agent does then is set in voicemail_detection: a screening message, the steps through a menu, the time in a queue.',
    ],
  },
  number_out_of_service: {
    party: 'caller',
    summary: 'The network announced that {number} is not in service.',
    advice: ['Correct the number, or take it off the list.'],
  },
  caller_hung_up_early: {
    party: 'caller',
    summary: 'The caller hung up {seconds} s after the answer, without a word{place}.',
    advice: [
      'If this happens often, listen to the first seconds of the recording: the greeting may be late, too long or too quiet.',
    ],
  },
  caller_hung_up_mid_sentence: {
    party: 'caller',
    summary:
      'The caller hung up while the agent was speaking{place}, {heard_ms} ms into what it said.',
    advice: [
      'If callers often leave at this place, shorten what the agent says there, or let callers interrupt it.',
    ],
  },
  caller_silent: {
    party: 'caller',
    summary: 'The caller said nothing{place} until the agent ended the call, after {seconds} s.',
    advice: [
      'Listen to the recording. If the caller can be heard there, look at the recogniser {stt}; if not, the microphone was muted or the audio was lost before it reached {line}.',
      'The waiting time is max_user_idle_timeout in the settings of the agent.',
    ],
  },
  caller_gave_up: {
    party: 'caller',
    summary: 'The caller hung up before the call was answered ({said}).',
    advice: [],
  },
  wait_abandoned: {
    party: 'gateway',
    summary:
      'All places were taken: the caller waited {waited_s} s for one, and hung up before it was free.',
    advice: [
      'If callers often give up, raise the limit of calls of the organization, or shorten wait_seconds_max and give a fallback_number (overflow of the telephony configuration).',
    ],
  },
  wait_timeout: {
    party: 'gateway',
    summary:
      'All places were taken: none was free within the {waited_s} s for which a caller may wait.',
    advice: [
      'Raise the limit of calls of the organization, or give a fallback_number (overflow of the telephony configuration).',
    ],
  },
  wait_forwarded: {
    party: 'nobody',
    summary:
      'All places were taken: after {waited_s} s of waiting the call went to the fallback number.',
    advice: ['To have the agent take such calls, raise the limit of calls of the organization.'],
  },
  chat_left: {
    party: 'caller',
    summary: 'The text chat was left: nothing was written for too long.',
    advice: [],
  },
} as const satisfies Record<string, Verdict>;

/** Verdicts on services. `service` is the name, `what` the job. */
const services = {
  service_key_refused: {
    party: 'service',
    summary: 'The {what} {service} refused its key{place}, at {at_ms} ms: {message}',
    advice: [
      'Replace the API key of {service} in the model configuration. `npx patchbay services check` tells whether it is taken.',
    ],
  },
  service_used_up: {
    party: 'service',
    summary: 'The account of the {what} {service} is used up{place}, at {at_ms} ms: {message}',
    advice: ['Add credit to the account of {service}, or raise its limit.'],
  },
  service_rate_limited: {
    party: 'service',
    summary: 'The {what} {service} is at its rate limit{place}, at {at_ms} ms ({times}).',
    advice: [
      'Raise the rate limit of the account at {service}, have fewer calls at once, or add a fallback service.',
    ],
  },
  service_stalled: {
    party: 'service',
    summary:
      'The {what} {service} did not answer in time{place}, at {at_ms} ms ({times}): {message}',
    advice: [
      'See the status page of {service}. Add a fallback for the {what}, or use a faster model.',
    ],
  },
  service_failed: {
    party: 'service',
    summary: 'The {what} {service} failed{place}, at {at_ms} ms ({times}): {message}',
    advice: [
      'See the status page of {service} and the network to it. Add a fallback for the {what}.',
    ],
  },
  service_refused_request: {
    party: 'service',
    summary: 'The {what} {service} refused the request{place}, at {at_ms} ms: {message}',
    advice: ['Correct the settings of {service} in the model configuration: {message}'],
  },
  service_empty: {
    party: 'service',
    summary: 'The {what} {service} returned nothing{place}, at {at_ms} ms ({times}).',
    advice: ['See that the model of {service} answers the prompt of this node; try another model.'],
  },
  answer_missing: {
    party: 'service',
    summary:
      'The caller waited {waited_ms} ms for an answer of the {what} {service}{place}, and left without one.',
    advice: [
      'See the status page of {service}. Add a fallback for the {what}, or use a faster model.',
    ],
  },
  slow_answers: {
    party: 'service',
    summary:
      'Answers were slow{place}: {waited_ms} ms at the slowest, most of it ({part_ms} ms) in the {what} {service}.',
    advice: ['Use a faster model or a nearer region of {service}.'],
  },
  slow_gateway: {
    party: 'gateway',
    summary:
      'Answers were slow{place}: {waited_ms} ms at the slowest, of which {part_ms} ms in the gateway itself.',
    advice: ['Look at the load of the machine at {time}: docs/operations.md has what to watch.'],
  },
  tool_failed: {
    party: 'service',
    summary: 'The tool {tool} failed{place}, at {at_ms} ms ({times}): {problem}',
    advice: [
      'Look into the log of the server of {tool} at {time}. `POST /tools/…/test` sends it a request.',
    ],
  },
  tool_timed_out: {
    party: 'service',
    summary:
      'The tool {tool} did not answer in time{place}, at {at_ms} ms: it was given up after {waited_ms} ms.',
    advice: ['Make the server of {tool} answer faster, or raise the timeout of the tool.'],
  },
  tool_pending: {
    party: 'service',
    summary: 'The caller left while the tool {tool} was awaited{place}, for {waited_ms} ms.',
    advice: ['Make the server of {tool} answer faster, or let the agent say what it waits for.'],
  },
  tool_arguments_wrong: {
    party: 'agent',
    summary: 'The model called the tool {tool} with wrong arguments{place} ({times}): {problem}',
    advice: ['Say in the description of {tool} and of its parameters what belongs there.'],
  },
  pre_call_fetch_failed: {
    party: 'service',
    summary: 'The variables before the call could not be fetched: {message}',
    advice: ['Look into the log of the server of pre_call_fetch_url in the start node at {time}.'],
  },
  service_changed: {
    party: 'service',
    summary:
      'The {what} {service} failed{place}, at {at_ms} ms, and the call went on with {next}: {message}',
    advice: ['See the status page of {service}: calls use the fallback {next} meanwhile.'],
  },
} as const satisfies Record<string, Verdict>;

/** Verdicts on agents and on the gateway. */
const own = {
  agent_loop: {
    party: 'agent',
    summary: 'The agent went round in a circle: it entered "{loop_node}" {entries} times{between}.',
    advice: [
      'Look at the edges that lead to "{loop_node}": their conditions let the agent come back without anything new. Add an edge that leaves the circle.',
    ],
  },
  variable_missing: {
    party: 'agent',
    summary: 'The agent uses the variable {variable}{place}, which had no value in this call.',
    advice: [
      'Send {variable} in initial_context, or give it a default in the text: {{ {variable} | default }}.',
    ],
  },
  agent_speechless: {
    party: 'agent',
    summary:
      'The agent had nothing to say{place}, at {at_ms} ms: the node has no text, and no model is set.',
    advice: ['Give the node a text (`say`), or set a language model for the agent.'],
  },
  not_understood: {
    party: 'agent',
    summary: 'The agent gave up{place} after it did not understand the caller {misses}.',
    advice: [
      'Listen to the recording there. Add the phrases that callers use to the edges of this node, or an edge for everything else.',
      'If the words of the transcript are wrong, look at the recogniser {stt} and its language.',
    ],
  },
  time_limit: {
    party: 'agent',
    summary: 'The call reached its longest time and was ended{place}, after {seconds} s.',
    advice: ['Raise max_call_duration in the settings of the agent if calls may take longer.'],
  },
  clip_missing: {
    party: 'agent',
    summary: 'A recording of the agent was missing{place}: {message}',
    advice: ['Upload the recording again, or change the node. {message}'],
  },
  agent_unusable: {
    party: 'agent',
    summary: 'The agent cannot be used for calls: {message}',
    advice: ['Correct the agent and publish it again: {message}'],
  },
  request_wrong: {
    party: 'agent',
    summary: 'The request for the call was wrong: {message}',
    advice: ['Correct the request: {message}'],
  },
  gateway_killed: {
    party: 'gateway',
    summary: 'The gateway process was killed or stopped during the call{place}, at {at_ms} ms.',
    advice: [
      'Look into the log of the gateway and the system log (out of memory, restart, deployment) at {time}.',
    ],
  },
  gateway_stopped: {
    party: 'gateway',
    summary: 'The gateway was stopped before the call was answered.',
    advice: ['Call again. To let calls finish, give the drain more time: PATCHBAY_DRAIN_SECONDS.'],
  },
  gateway_drained: {
    party: 'gateway',
    summary: 'The gateway was stopped and ended the call{place}, after {seconds} s.',
    advice: ['To let calls finish before a stop, raise PATCHBAY_DRAIN_SECONDS.'],
  },
  gateway_fault: {
    party: 'gateway',
    summary: 'A fault of the gateway itself ended the call{place}, at {at_ms} ms: {message}',
    advice: ['Search the log of the gateway for "call failed" with runId {run}, and report it.'],
  },
  gateway_limit: {
    party: 'gateway',
    summary: 'The gateway or the organization was at a limit: {message}',
    advice: ['Raise the limit of calls of the organization, or add a gateway.'],
  },
  gateway_blocked: {
    party: 'gateway',
    summary: 'The gateway could not process the audio in time{place}, at {at_ms} ms: {message}',
    advice: ['The machine was short of processor time at {time}: see docs/operations.md.'],
  },
  store_away: {
    party: 'gateway',
    summary: 'The database did not answer: {message}',
    advice: ['Look at the database and the network to it at {time}.'],
  },
  recording_failed: {
    party: 'gateway',
    summary: 'The recording of the call could not be written: {message}',
    advice: [
      'See whether the disk of the data folder (PATCHBAY_DATA) is full or cannot be written.',
    ],
  },
  call_resumed: {
    party: 'gateway',
    summary:
      'The process with the call died, and another one went on with it{place}, at {at_ms} ms, after {waited_ms} ms.',
    advice: [
      'Look into the log of the gateway for the reason of the death of its worker at {time}.',
    ],
  },
} as const satisfies Record<string, Verdict>;

const others = {
  other_fault: {
    party: 'unknown',
    summary: 'A fault is in the events{place}, at {at_ms} ms: {code}, {message}',
    advice: ['Search the log of the gateway for runId {run} at {time}.'],
  },
  unclear: {
    party: 'unknown',
    summary: 'The events do not say why the call ended. Known: {known}.',
    advice: ['Search the log of the gateway for runId {run} at {time}.'],
  },
} as const satisfies Record<string, Verdict>;

export const verdicts = { ...ends, ...unreached, ...lines, ...services, ...own, ...others };
export type VerdictName = keyof typeof verdicts;
