// A completed run. By default of a campaign's call that was not answered.

import type { Run } from '../../../src/model/run.ts';

export function completedRun(more: Partial<Run>): Run {
  return {
    id: '1',
    organizationId: '1',
    workflowId: '1',
    definitionId: '1',
    campaignId: '1',
    name: 'r',
    mode: 'twilio',
    callType: 'outbound',
    state: 'completed',
    configurationId: '1',
    providerCallId: 'CA1',
    initialContext: {},
    gatheredContext: {},
    usageInfo: null,
    costInfo: null,
    logs: {},
    annotations: {},
    disposition: null,
    durationS: 0,
    recordingKey: null,
    transcriptKey: null,
    publicAccessToken: null,
    createdAt: new Date(0),
    startedAt: null,
    endedAt: new Date(0),
    ...more,
  };
}
