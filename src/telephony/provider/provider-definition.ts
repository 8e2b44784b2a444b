// What is declared of a provider, once, in its provider.ts: its names, its credentials and how they are kept, what it can
// do, and how it is built. telephony/registry has the list, and makes the API's schemas and forms of it.

import type { z } from 'zod';
import type { ConfiguredProviderName, ProviderName } from '../../model/provider.ts';
import type { Random } from '../../std/random.ts';
import type { credentialsOf } from './configuration-fields.ts';
import type { DirectProvider, HostedProvider, PbxProvider } from './provider.ts';

export const CONNECTIVITY = ['api', 'sip'] as const;
export type Connectivity = (typeof CONNECTIVITY)[number];

/** Schema key for properties that are accepted and dropped, for the API's description. */
export const IGNORED_PROPERTIES = 'x-ignored-properties';

/** Properties that old clients send. Numbers are phone numbers of a configuration, with operations of their own. */
const ignored = {
  from_numbers: {
    description:
      'Accepted and ignored: numbers are phone numbers of the configuration (`createPhoneNumber`).',
  },
};

type Credentials<
  Name extends ConfiguredProviderName,
  Fields extends Readonly<Record<string, z.ZodType>>,
> = ReturnType<typeof credentialsOf<Name, Fields>>;

/** `Field`: the name of a field of the credentials. */
export interface ProviderFacts<Field extends string = string> {
  displayName: string;
  /** Its name in the API's description. Default: `displayName`. */
  schemaName?: string;
  connectivity: Connectivity;
  docsUrl: string | null;
  /** The field that identifies the account in webhooks; null if webhooks have none. */
  accountIdField: Field | null;
  /** The field that verifies webhooks, where it may be missing. */
  webhookKeyField?: Field;
  /** Fields that hold an address to which the gateway connects. */
  addressFields: readonly Field[];
  /** A field that determines where `secret` is sent. To change it, the secret must be sent again in clear: otherwise a
   *  user without the secret could have it sent to a host of theirs. */
  secretDestination?: { field: Field; secret: Field };
  /** Keys without a form field that clients may see. */
  readableKeys?: readonly string[];
  /** Keys that the gateway generates when a configuration is first stored. */
  mintKeys?: (random: Random) => Record<string, string>;
  /** Secrets below the top level, as dotted paths. */
  nestedSecrets?: readonly string[];
  /** Set where calls can be placed without a number of the configuration as the caller. */
  callerIdOptional?: true;
  /** Schema of a trunk's settings; absent where the provider has no trunks. */
  trunkSettings?: z.ZodType<Record<string, unknown>>;
}

/** A provider as the registry has it, whichever it is. */
export interface ProviderDefinition extends ProviderFacts {
  name: ConfiguredProviderName;
  fields: Readonly<Record<string, z.ZodType>>;
}

/** A provider as its provider.ts declares it. `create` builds what is not declared. */
type Declaration<
  Name extends ConfiguredProviderName,
  Fields extends Readonly<Record<string, z.ZodType>>,
  Options,
  Provider extends HostedProvider | PbxProvider,
> = ProviderFacts<keyof Fields & string> & {
  credentials: Credentials<Name, Fields>;
  capabilities: Provider['capabilities'];
  create: (options: Options) => Omit<Provider, 'name' | 'capabilities'>;
};

/** Defines a provider that reports its calls by webhooks. */
export function defineProvider<
  const Name extends ConfiguredProviderName,
  const Fields extends Readonly<Record<string, z.ZodType>>,
  Options,
>(declared: Declaration<Name, Fields, Options, HostedProvider>) {
  const { credentials, capabilities, create, ...facts } = declared;
  const { name } = credentials;
  return {
    ...definitionOf(credentials, facts),
    kind: 'hosted' as const,
    create: (options: Options): HostedProvider => ({ name, capabilities, ...create(options) }),
  };
}

/** Defines a provider that reports its calls over connections which the gateway holds. */
export function definePbx<
  const Name extends ConfiguredProviderName,
  const Fields extends Readonly<Record<string, z.ZodType>>,
  Options,
>(declared: Declaration<Name, Fields, Options, PbxProvider>) {
  const { credentials, capabilities, create, ...facts } = declared;
  const { name } = credentials;
  return {
    ...definitionOf(credentials, facts),
    kind: 'pbx' as const,
    create: (options: Options): PbxProvider => ({ name, capabilities, ...create(options) }),
  };
}

/** Defines a provider whose callers connect to us directly. It has no configuration, and no form for one. */
export function defineDirect<const Name extends ProviderName>(declared: {
  name: Name;
  displayName: string;
  capabilities: DirectProvider['capabilities'];
  create: () => Omit<DirectProvider, 'name' | 'capabilities'>;
}) {
  const { name, displayName, capabilities, create } = declared;
  return {
    name,
    displayName,
    kind: 'direct' as const,
    create: (): DirectProvider => ({ name, capabilities, ...create() }),
  };
}

function definitionOf<
  const Name extends ConfiguredProviderName,
  const Fields extends Readonly<Record<string, z.ZodType>>,
>(
  { name, fields, schema, patch }: Credentials<Name, Fields>,
  facts: ProviderFacts<keyof Fields & string>,
) {
  const id = (kind: 'Request' | 'Update'): string =>
    `${facts.schemaName ?? facts.displayName}Configuration${kind}`;
  return {
    ...facts,
    name,
    fields,
    /** The schema of a whole configuration, named for the API's description. To be called once. */
    requestSchema: () => schema.meta({ id: id('Request'), [IGNORED_PROPERTIES]: ignored }),
    /** The schema of a change, likewise. */
    updateSchema: () => patch.meta({ id: id('Update'), [IGNORED_PROPERTIES]: ignored }),
  };
}
