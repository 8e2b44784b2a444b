// What each operation of the API needs, by its operation id; all others are `ordinary`. A table, so that a reader sees
// what is bounded together.

/** What a route needs. `first`: never waits, its own limits hold. `ordinary`: the store, a moment of computing; with a
 *  large body `heavy`. `heavy`: much of both. `file`: a thread that reads a large file. `outside`: waits for others,
 *  such as a provider, a tool or the hash of a password. */
export type Admission = 'first' | 'ordinary' | 'heavy' | 'file' | 'outside';

const table: Readonly<Record<Exclude<Admission, 'ordinary'>, readonly string[]>> = {
  // Beside these: webhooks of providers, uploads, and the probes outside the description.
  first: ['health', 'getActiveCalls', 'getAutoscaleMetric'],
  // Agents of any size are read, checked or copied; reports read all runs of an organization.
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
  file: ['createCampaign', 'createRecordings'],
  outside: [
    'logIn',
    'signUp',
    'startCallByAgent',
    'startCallByTrigger',
    'startTestCallByAgent',
    'startTestCallByTrigger',
    'initiateCall',
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

/** For a test: they all exist. */
export const namedOperations: readonly string[] = [...byOperation.keys()];
