// Asks before an agent is archived.

import { Confirm } from '../../parts/dialog.tsx';
import { setStatus } from './agents-changed.ts';

export function ArchiveAgent({
  agent: { id, name },
  onClose,
}: {
  agent: { id: string; name: string };
  onClose: () => void;
}) {
  return (
    <Confirm
      title={`Archive ${name}?`}
      action="Archive"
      onConfirm={() => setStatus(id, 'archived')}
      onClose={onClose}
    >
      <p>It answers and starts no more calls; active calls end as usual.</p>
      <p>Its runs stay, and it can be restored.</p>
    </Confirm>
  );
}
