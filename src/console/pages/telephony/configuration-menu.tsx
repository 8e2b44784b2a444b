// What can be done with a telephony configuration as a whole.

import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, client, type Schema } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Loaded } from '../../parts/notice.tsx';
import { ConfigurationForm } from './configuration-form.tsx';
import { telephonyChanged } from './telephony-changed.ts';

type Configuration = Pick<
  Schema<'TelephonyConfigurationListItem'>,
  'id' | 'name' | 'inactive' | 'is_default_outbound'
>;

const CONFIGURATION = '/api/v1/organizations/telephony-configs/{config_id}';

export function ConfigurationMenu({
  configuration: { id, name, inactive, is_default_outbound: isDefault },
  isLabelHidden = false,
}: {
  configuration: Configuration;
  isLabelHidden?: boolean;
}) {
  const [asked, setAsked] = useState<'edit' | 'delete'>();
  const [, navigate] = useLocation();
  const { run, notice } = useAction();
  const params = { path: { config_id: id } };
  const change = (path: 'set-default-outbound' | 'reactivate') =>
    run(async () => {
      await client.POST(`${CONFIGURATION}/${path}`, { params });
      await telephonyChanged();
    });
  const remove = async () => {
    await client.DELETE(CONFIGURATION, { params });
    navigate('/telephony');
    await telephonyChanged();
  };
  const close = () => setAsked(undefined);
  return (
    <>
      {notice}
      <Menu label={isLabelHidden ? `Actions for ${name}` : 'More'} isLabelHidden={isLabelHidden}>
        <MenuItem onSelect={() => setAsked('edit')}>Edit</MenuItem>
        {!isDefault && (
          <MenuItem onSelect={() => void change('set-default-outbound')}>
            Make it the default for outbound calls
          </MenuItem>
        )}
        {inactive && <MenuItem onSelect={() => void change('reactivate')}>Reactivate</MenuItem>}
        <MenuItem onSelect={() => setAsked('delete')}>Delete</MenuItem>
      </Menu>
      {asked === 'edit' && <EditConfiguration id={id} onClose={close} />}
      {asked === 'delete' && (
        <Confirm title={`Delete ${name}?`} action="Delete" onConfirm={remove} onClose={close}>
          <p>
            Its phone numbers and trunks are deleted with it, and it has no more calls. Runs are
            kept.
          </p>
        </Confirm>
      )}
    </>
  );
}

function EditConfiguration({ id, onClose }: { id: string; onClose: () => void }) {
  const providers = api.useQuery('get', '/api/v1/organizations/telephony-providers/metadata');
  const configuration = api.useQuery('get', CONFIGURATION, {
    params: { path: { config_id: id } },
  });
  return (
    <Loaded query={providers}>
      {({ providers: all }) => (
        <Loaded query={configuration}>
          {(stored) => <ConfigurationForm providers={all} stored={stored} onClose={onClose} />}
        </Loaded>
      )}
    </Loaded>
  );
}
