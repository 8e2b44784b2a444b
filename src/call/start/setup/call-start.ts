// A call that a client starts: what it asks for, and what it gets. call-service.ts has the operations.

export interface StartCall {
  organizationId: string;
  /** API key of the client; null if a logged-in user started the call. */
  apiKeyId: string | null;
  apiKeyCreatedBy: string;
  /** The agent or trigger, as the client named it. */
  agent: { type: 'workflow_uuid' | 'trigger_path'; identifier: string };
  /** `test`: the run uses the draft and the template variables. */
  mode: 'production' | 'test';
  phoneNumber: string;
  initialContext: Record<string, unknown>;
  configurationId: string | null;
  fromPhoneNumberId: string | null;
  /** The client's idempotency key; null without one. */
  idempotencyKey: string | null;
}

/** A test call of an agent: of its draft, or of the published version if it has no draft. */
export interface TestCall
  extends Pick<
    StartCall,
    | 'organizationId'
    | 'apiKeyId'
    | 'apiKeyCreatedBy'
    | 'configurationId'
    | 'fromPhoneNumberId'
    | 'idempotencyKey'
  > {
  workflowId: string;
  /** A run that was created without a call; null creates one. */
  runId: string | null;
  /** Number to call; null: the organization's test number. */
  phoneNumber: string | null;
}

export interface StartedCall {
  runId: string;
  runName: string;
  /** Template variables of the agent that have no value in the call's context; absent if all have one. */
  variablesWithoutValue?: string[];
}
