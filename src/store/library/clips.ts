// Audio clips of organizations. Source: contract §10.3.

import type { Selectable } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clip, ClipRef } from '../../model/clip.ts';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { ClipTable } from '../db/tables.ts';

export type NewClip = Pick<
  Clip,
  'name' | 'transcript' | 'storageKey' | 'ttsProvider' | 'ttsModel' | 'ttsVoiceId' | 'metadata'
> & { workflowId: string | null };

export interface ClipFilter {
  /** Selects the clips of that agent, and those for every agent. Default: all. */
  workflowId?: string;
  ttsProvider?: string;
  ttsModel?: string;
  ttsVoiceId?: string;
}

export type ClipStore = Pick<ClipRepository, keyof ClipRepository>;

export class ClipRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Stores all clips or none. Throws CLIP_NAME_TAKEN, WORKFLOW_NOT_FOUND. */
  async create(
    owner: { organizationId: string; userId: string },
    clips: readonly NewClip[],
  ): Promise<Clip[]> {
    const createdAt = new Date(this.#context.clock.now());
    return this.#context.db.transaction().execute(async (tx) => {
      const made: Clip[] = [];
      for (const clip of clips) {
        const { workflowId } = clip;
        const workflow =
          workflowId === null || !isRowId(workflowId)
            ? undefined
            : await tx
                .selectFrom('workflows')
                .select('id')
                .where('organization_id', '=', owner.organizationId)
                .where('id', '=', workflowId)
                .executeTakeFirst();
        if (workflowId !== null && workflow === undefined) {
          throw new GatewayError('WORKFLOW_NOT_FOUND', { id: workflowId });
        }
        const row = await tx
          .insertInto('clips')
          .values({
            organization_id: owner.organizationId,
            workflow_id: workflowId,
            user_id: owner.userId,
            name: clip.name,
            transcript: plainText(clip.transcript),
            storage_key: clip.storageKey,
            tts_provider: cleanOrNull(clip.ttsProvider),
            tts_model: cleanOrNull(clip.ttsModel),
            tts_voice_id: cleanOrNull(clip.ttsVoiceId),
            metadata: jsonText(clip.metadata),
            created_at: createdAt,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
          .catch((error: unknown) => {
            throw asConflict(error, clip.name);
          });
        made.push(toClip(row));
      }
      return made;
    });
  }

  /** One page of clips, newest first. */
  async list(
    organizationId: string,
    filter: ClipFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ clips: Clip[]; total: number }> {
    const wanted = this.#active(organizationId, filter);
    if (wanted === undefined) return { clips: [], total: 0 };
    const rows = await wanted
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    const { total } = await wanted
      .select((of) => of.fn.countAll<string>().as('total'))
      .executeTakeFirstOrThrow();
    return { clips: rows.map(toClip), total: Number(total) };
  }

  /** The clips among `refs` that exist, in no order. */
  async find(organizationId: string, refs: readonly ClipRef[]): Promise<Clip[]> {
    const wanted = this.#active(organizationId, {});
    const ids = refs.filter(({ by, value }) => by === 'id' && isRowId(value));
    const names = refs.filter(({ by }) => by === 'name');
    if (wanted === undefined || ids.length + names.length === 0) return [];
    const rows = await wanted
      .selectAll()
      .where((where) =>
        where.or([
          ...(ids.length === 0 ? [] : [where('id', 'in', valuesOf(ids))]),
          ...(names.length === 0 ? [] : [where('name', 'in', valuesOf(names))]),
        ]),
      )
      .execute();
    return rows.map(toClip);
  }

  /** Renames a clip; undefined if there is none with that id. Throws CLIP_NAME_TAKEN. */
  async rename(organizationId: string, id: string, name: string): Promise<Clip | undefined> {
    if (!isRowId(organizationId) || !isRowId(id)) return undefined;
    const row = await this.#context.db
      .updateTable('clips')
      .set({ name })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .where('is_active', '=', true)
      .returningAll()
      .executeTakeFirst()
      .catch((error: unknown) => {
        throw asConflict(error, name);
      });
    return row === undefined ? undefined : toClip(row);
  }

  /** Removes a clip. False if there is none with that name. */
  async remove(organizationId: string, name: string): Promise<boolean> {
    if (!isRowId(organizationId)) return false;
    const row = await this.#context.db
      .updateTable('clips')
      .set({ is_active: false })
      .where('organization_id', '=', organizationId)
      .where('name', '=', plainText(name))
      .where('is_active', '=', true)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Query for matching clips; undefined if nothing can match. */
  #active(organizationId: string, filter: ClipFilter) {
    const { workflowId, ttsProvider, ttsModel, ttsVoiceId } = filter;
    const isWrong = workflowId !== undefined && !isRowId(workflowId);
    if (!isRowId(organizationId) || isWrong) return undefined;
    let query = this.#context.db
      .selectFrom('clips')
      .where('organization_id', '=', organizationId)
      .where('is_active', '=', true);
    if (workflowId !== undefined) {
      query = query.where((where) =>
        where.or([where('workflow_id', '=', workflowId), where('workflow_id', 'is', null)]),
      );
    }
    if (ttsProvider !== undefined) {
      query = query.where('tts_provider', '=', plainText(ttsProvider));
    }
    if (ttsModel !== undefined) query = query.where('tts_model', '=', plainText(ttsModel));
    if (ttsVoiceId !== undefined) query = query.where('tts_voice_id', '=', plainText(ttsVoiceId));
    return query;
  }
}

function valuesOf(refs: readonly ClipRef[]): string[] {
  return refs.map(({ value }) => plainText(value));
}

function cleanOrNull(text: string | null): string | null {
  return text === null ? null : plainText(text);
}

function asConflict(error: unknown, name: string): unknown {
  if (violated(error) !== 'clips_name') return error;
  return new GatewayError('CLIP_NAME_TAKEN', { name }, error);
}

function toClip(row: Selectable<ClipTable>): Clip {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workflowId: row.workflow_id,
    userId: row.user_id,
    name: row.name,
    transcript: row.transcript,
    storageKey: row.storage_key,
    ttsProvider: row.tts_provider,
    ttsModel: row.tts_model,
    ttsVoiceId: row.tts_voice_id,
    metadata: row.metadata,
    isActive: row.is_active,
    createdAt: row.created_at,
  };
}
