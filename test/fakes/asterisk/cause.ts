// Why calls end, as Asterisk says it: Q.850 cause codes, their texts, what SIP makes of them, and the words
// that ARI's `reason` takes. Source: ITU-T Q.850; RFC 3398; measured on Asterisk 22.10.1 (asterisk §4).

const texts: Record<number, string> = {
  0: 'Unknown',
  1: 'Unallocated (unassigned) number',
  3: 'No route to destination',
  16: 'Normal Clearing',
  17: 'User busy',
  18: 'No user responding',
  19: 'User alerting, no answer',
  21: 'Call Rejected',
  26: 'Answered elsewhere',
  27: 'Destination out of order',
  28: 'Invalid number format',
  34: 'Circuit/channel congestion',
  38: 'Network out of order',
  41: 'Temporary failure',
  42: 'Switch congestion',
  58: 'Bearer capability not available',
  127: 'Interworking, unspecified',
};

export function causeText(cause: number): string {
  return texts[cause] ?? 'Unknown';
}

/** What a caller over SIP sees when its call is turned away with a cause. */
export function sipStatusOf(cause: number): number {
  const statuses: Record<number, number> = {
    1: 404,
    3: 404,
    16: 603,
    17: 486,
    18: 408,
    19: 480,
    21: 403,
    34: 503,
    38: 500,
    58: 488,
  };
  return statuses[cause] ?? 603;
}

/** The cause that a PBX reads out of a SIP answer. */
export function causeOfSip(status: number): number {
  const causes: Record<number, number> = {
    404: 1,
    408: 18,
    486: 17,
    480: 19,
    403: 21,
    503: 34,
    488: 58,
    500: 38,
  };
  return causes[status] ?? 21;
}

/** `reason` of DELETE /channels/{id} to its cause; undefined for a word that ARI does not know. */
export function causeOfReason(reason: string): number | undefined {
  const causes: Record<string, number> = {
    normal: 16,
    busy: 17,
    congestion: 34,
    no_answer: 19,
    timeout: 102,
    rejected: 21,
    unallocated: 1,
    normal_unspecified: 31,
    number_incomplete: 28,
    codec_mismatch: 127,
    interworking: 127,
    failure: 38,
    answered_elsewhere: 26,
  };
  return causes[reason];
}

/** How a dial that was not answered is reported. Local channels tell "no route" apart, SIP does not. */
export function dialStatusOf(cause: number): string {
  if (cause === 17) return 'BUSY';
  if (cause === 34) return 'CONGESTION';
  return cause === 3 ? 'CHANUNAVAIL' : 'NOANSWER';
}
