// Table of what each operation of the API needs, by operation id; all others are `ordinary`. It shows which operations
// are limited together.

/** Need of a route. `first`: never waits, has limits of its own. `ordinary`: the store and a moment of computing;
 *  `heavy` if its body is large. `heavy`: much of both. `file`: a thread that reads a large file. `outside`: waits
 *  for other systems, such as a provider, a tool, or the hash of a password. */
export type Admission = 'first' | 'ordinary' | 'heavy' | 'file' | 'outside';

const table: Readonly<Record<Exclude<Admission, 'ordinary'>, readonly string[]>> = {
  // In addition: webhooks of providers, uploads, and the probes outside the API's description.
  first: ['health', 'getActiveCalls', 'getAutoscaleMetric', 'getClusterStatus'],
  // Operations that read, check or copy agents of any size, or reports that read all runs of an organization.
  heavy: [
    'validateWorkflow',
    'publishWorkflow',
    'createWorkflowDraft',
    'duplicateWorkflow',
    'downloadWorkflowReport',
    'downloadUsageReport',
    'getCampaignReport',
    'getDailyReport',
    'listDailyRuns',
    'getDailyUsage',
    'getCurrentUsage',
    'redialCampaign',
  ],
  file: ['createCampaign', 'previewContacts', 'createRecordings'],
  outside: [
    'logIn',
    'signUp',
    'startCallByAgent',
    'startCallByTrigger',
    'startTestCallByAgent',
    'startTestCallByTrigger',
    'initiateCall',
    'startWebCall',
    'hangUpCall',
    'sendDigits',
    'testTool',
    'createTool',
    'updateTool',
    'refreshMcpTool',
    'examineTelephonyConfiguration',
    'startExaminationCall',
    'syncTelephonyConfiguration',
    'createTelephonyConfiguration',
    'updateTelephonyConfiguration',
    'reactivateTelephonyConfiguration',
    'saveDefaultTelephonyConfiguration',
    'createTrunk',
    'updateTrunk',
    'deleteTrunk',
    'createPhoneNumber',
    'updatePhoneNumber',
    'deletePhoneNumber',
    'writeWorkflow',
    'createTextChat',
    'sendTextChatMessage',
    'transcribeRecording',
    'saveModelConfiguration',
    'checkModelConfiguration',
    'migrateModelConfiguration',
    'saveUserConfiguration',
    'validateUserConfiguration',
    'listVoices',
  ],
};

const byOperation = new Map(
  Object.entries(table).flatMap(([admission, operations]) =>
    // Object.entries widens the keys of the table.
    operations.map((operation) => [operation, admission as Admission]),
  ),
);

export function admissionOf(operationId: string | undefined): Admission {
  return byOperation.get(operationId ?? '') ?? 'ordinary';
}

/** The ids in the table, for a test that they all exist. */
export const namedOperations: readonly string[] = [...byOperation.keys()];
