// The scenarios of the comparison between the simulated and a real Asterisk, by name. Each runs on either.

import { madeCalls } from './made-call-scenarios.ts';
import type { Scenario } from './scenario.ts';

const outcomes = [
  'answer',
  'instant',
  'early',
  'busy',
  'busynow',
  'noanswer',
  'congestion',
  'reject',
  'unalloc',
  'noroute',
  'netfail',
  'hangafter',
  'nosuch',
];

/** Dials, and hangs up if it was answered (and the other side does not). */
function outcome(endpoint: string): Scenario {
  return async (stage) => {
    const id = await stage.dial(endpoint);
    if ((await stage.settled(id)) && !endpoint.includes('hangafter')) {
      await stage.ask('DELETE', `channels/${id}`);
    }
    await stage.event('ChannelDestroyed', id);
    if (endpoint.startsWith('Local')) await stage.event('ChannelDestroyed', `${id};2`);
    await stage.ask('GET', `channels/${id}`);
  };
}

function hungUpWhileRinging(endpoint: string, reason?: string): Scenario {
  return async (stage) => {
    const id = await stage.dial(endpoint);
    await stage.place.pause(300);
    await stage.ask('DELETE', `channels/${id}`, reason === undefined ? {} : { reason });
    await stage.event('ChannelDestroyed', id);
  };
}

const callsOut: Record<string, Scenario> = {
  ...Object.fromEntries(
    outcomes.flatMap((name) => [
      [`local-${name}`, outcome(`Local/${name}@out-dest/n`)],
      [`pjsip-${name}`, outcome(`PJSIP/${name}@loop`)],
    ]),
  ),
  'pjsip-dead': outcome('PJSIP/x@dead'),
  'local-hung-up-while-ringing': hungUpWhileRinging('Local/noanswer@out-dest/n'),
  'pjsip-hung-up-while-ringing': hungUpWhileRinging('PJSIP/noanswer@loop'),
  'pjsip-hung-up-with-reason': hungUpWhileRinging('PJSIP/noanswer@loop', 'busy'),
  'no-such-endpoint': async (stage) => {
    await stage.dial('PJSIP/x@nope');
    await stage.dial('Foo/x');
  },
  'nobody-serves-the-application': async (stage) => {
    const id = await stage.dial('Local/instant@out-dest/n', 'call', { app: `${stage.app}-none` });
    await stage.place.pause(1_200);
    await stage.ask('GET', `channels/${id}`);
  },
  ...madeCalls,
};

const callsIn: Record<string, Scenario> = {
  'caller-gives-up': async (stage) => {
    const { far, near } = await stage.inbound('quiet');
    await stage.ask('DELETE', `channels/${far}`);
    await stage.event('StasisEnd', near);
    await stage.ask('POST', 'channels/app-gone/answer');
  },
  'caller-refused': async (stage) => {
    const { near } = await stage.inbound('quiet');
    await stage.ask('DELETE', `channels/${near}`, { reason: 'foo' });
    await stage.ask('DELETE', `channels/${near}`, { reason: 'busy' });
    await stage.event('StasisEnd', near);
  },
  'caller-goes-on-in-dialplan': async (stage) => {
    const { far, near } = await stage.inbound('quiet');
    await stage.ask('POST', `channels/${near}/ring`);
    await stage.ask('POST', `channels/${near}/answer`);
    const to = { context: 'agents', extension: '600', priority: '1' };
    await stage.ask('POST', `channels/${near}/continue`, to);
    await stage.event('StasisEnd', near);
    await stage.ask('POST', `channels/${near}/answer`);
    await stage.ask('DELETE', `channels/${far}`);
  },
  'caller-with-media': async (stage) => {
    const { far, near } = await stage.inbound('dtmf');
    const bridge = stage.id('bridge');
    await stage.ask('POST', `channels/${near}/answer`);
    await stage.ask('POST', `channels/${near}/answer`);
    const { id, media } = await stage.mediaLeg('leg', { transport_data: 'f(json)' });
    await stage.ask('POST', 'bridges', { type: 'mixing', bridgeId: bridge, name: 'talk' });
    await stage.ask('POST', `bridges/${bridge}/addChannel`, { channel: `${id},${near}` });
    await stage.said(media, '"#"');
    await stage.ask('GET', `bridges/${bridge}`);
    await stage.ask('POST', `bridges/${bridge}/removeChannel`, { channel: near });
    await stage.ask('POST', `bridges/${bridge}/removeChannel`, { channel: near });
    await stage.ask('POST', `bridges/${bridge}/addChannel`, { channel: near });
    await stage.ask('DELETE', `channels/${far}`);
    await stage.event('StasisEnd', near);
    await stage.ask('DELETE', `channels/${id}`);
    await stage.event('ChannelDestroyed', id);
    await stage.ask('DELETE', `bridges/${bridge}`);
    await stage.ask('DELETE', `bridges/${bridge}`);
  },
  'caller-waits-and-is-joined': async (stage) => {
    const { far, near } = await stage.inbound('quiet');
    const [first, second] = [stage.id('first'), stage.id('second')];
    await stage.ask('POST', `channels/${near}/answer`);
    await stage.ask('POST', 'bridges', { type: 'mixing', bridgeId: first });
    await stage.ask('POST', 'bridges', { type: 'mixing', bridgeId: second });
    await stage.ask('POST', `bridges/${first}/addChannel`, { channel: near });
    await stage.ask('POST', `bridges/${first}/play/${first}`, { media: 'tone:ring' });
    await stage.place.pause(200);
    await stage.ask('GET', `bridges/${first}`);
    await stage.ask('GET', `playbacks/${first}`);
    const { id } = await stage.mediaLeg('leg', { transport_data: 'f(json)' });
    const colleague = await stage.dial('Local/instant@out-dest/n', 'other');
    await stage.settled(colleague);
    await stage.ask('POST', `bridges/${second}/addChannel`, { channel: `${colleague},${id}` });
    await stage.ask('DELETE', `playbacks/${first}`);
    await stage.place.pause(200);
    await stage.ask('DELETE', `playbacks/${first}`);
    await stage.ask('POST', `bridges/${first}/addChannel`, { channel: colleague });
    await stage.ask('GET', `bridges/${first}`);
    await stage.ask('GET', `bridges/${second}`);
    await stage.ask('DELETE', `channels/${id}`);
    await stage.event('ChannelDestroyed', id);
    await stage.ask('DELETE', `bridges/${second}`);
    await stage.ask('DELETE', `channels/${far}`);
    await stage.event('StasisEnd', near);
    await stage.ask('DELETE', `channels/${colleague}`);
    await stage.event('ChannelDestroyed', colleague);
    await stage.ask('POST', `bridges/${second}/play/${second}`, { media: 'tone:ring' });
    await stage.ask('DELETE', `bridges/${first}`);
  },
};

const media: Record<string, Scenario> = {
  'media-commands': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg', { transport_data: 'f(json)' });
    const send = (command: string, more = {}): void =>
      socket.socket.send(JSON.stringify({ command, ...more }));
    send('GET_STATUS');
    socket.socket.send('{');
    send('NO_SUCH_COMMAND');
    send('START_MEDIA_BUFFERING');
    send('GET_STATUS');
    socket.socket.send(Buffer.alloc(250));
    send('STOP_MEDIA_BUFFERING', { correlation_id: 'u1' });
    send('MARK_MEDIA', { correlation_id: 'm1' });
    await stage.said(socket, '"m1"');
    send('PAUSE_MEDIA');
    socket.socket.send(Buffer.alloc(1_600));
    send('MARK_MEDIA', { correlation_id: 'm2' });
    send('REPORT_QUEUE_DRAINED');
    send('GET_STATUS');
    send('FLUSH_MEDIA');
    send('GET_STATUS');
    send('CONTINUE_MEDIA');
    await stage.said(socket, 'QUEUE_DRAINED');
    await stage.ask('DELETE', `channels/${id}`);
    await stage.closed(socket);
  },
  'media-plain-text': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg');
    socket.socket.send('GET_STATUS');
    socket.socket.send('SET_MEDIA_DIRECTION in');
    socket.socket.send('mark_media m0');
    socket.socket.send('MARK_MEDIA m1');
    await stage.said(socket, 'm1');
    socket.socket.send('HANGUP');
    await stage.event('ChannelDestroyed', id);
    await stage.closed(socket);
  },
  'media-full-queue': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg', { transport_data: 'f(json)' });
    for (let nth = 0; nth < 19; nth++) socket.socket.send(Buffer.alloc(8_000));
    socket.socket.send('{"command":"FLUSH_MEDIA"}');
    await stage.said(socket, 'MEDIA_XON');
    await stage.ask('DELETE', `channels/${id}`);
    await stage.closed(socket);
  },
  'media-direction-in': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg', {
      transport_data: 'f(json)',
      direction: 'in',
    });
    for (const command of ['MARK_MEDIA', 'START_MEDIA_BUFFERING', 'FLUSH_MEDIA', 'GET_STATUS']) {
      socket.socket.send(JSON.stringify({ command }));
    }
    await stage.said(socket, 'STATUS');
    await stage.ask('DELETE', `channels/${id}`);
    await stage.closed(socket);
  },
  'media-closed-by-us': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg');
    socket.socket.close(1000);
    await stage.event('ChannelDestroyed', id);
    await stage.closed(socket);
  },
  'media-connection-lost': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg');
    await stage.said(socket, 'MEDIA_START');
    socket.socket.terminate();
    await stage.event('ChannelDestroyed', id);
  },
  'media-message-too-large': async (stage) => {
    const { id, media: socket } = await stage.mediaLeg('leg');
    await stage.said(socket, 'MEDIA_START');
    socket.socket.send(Buffer.alloc(66_000));
    await stage.event('ChannelDestroyed', id);
  },
  'media-before-the-bridge': async (stage) => {
    const bridge = stage.id('bridge');
    await stage.ask('POST', 'bridges', { type: 'mixing', bridgeId: bridge });
    const leg = stage.id('leg');
    await stage.ask('POST', 'channels/externalMedia', {
      app: stage.app,
      format: 'slin16',
      transport: 'websocket',
      encapsulation: 'none',
      connection_type: 'server',
      channelId: leg,
    });
    await stage.ask('POST', `bridges/${bridge}/addChannel`, { channel: leg });
    await stage.ask('DELETE', `channels/${leg}`);
    await stage.event('ChannelDestroyed', leg);
    await stage.ask('DELETE', `bridges/${bridge}`);
  },
  rtp: async (stage) => {
    const id = stage.id('leg');
    const query = { app: stage.app, format: 'slin16', external_host: '127.0.0.1:45555' };
    await stage.ask('POST', 'channels/externalMedia', { ...query, channelId: id });
    await stage.event('StasisStart', id);
    await stage.ask('DELETE', `channels/${id}`);
    await stage.event('ChannelDestroyed', id);
  },
  audiosocket: async (stage) => {
    const { port, sockets } = await stage.audioSocketServer();
    for (const name of ['leg-a', 'leg-b']) {
      const id = stage.id(name);
      await stage.ask('POST', 'channels/externalMedia', {
        app: stage.app,
        format: 'slin16',
        transport: 'tcp',
        encapsulation: 'audiosocket',
        external_host: `127.0.0.1:${port}`,
        data: 'a1b2c3d4-0000-4000-8000-000000000001',
        channelId: id,
      });
      await stage.event('StasisStart', id);
      await stage.place.pause(100);
      if (name === 'leg-a') sockets.at(-1)?.end();
      else await stage.ask('DELETE', `channels/${id}`);
      await stage.event('ChannelDestroyed', id);
    }
  },
  'media-client': async (stage) => {
    const port = stage.place.mediaPort;
    if (port === null) return;
    const external = {
      app: stage.app,
      format: 'ulaw',
      transport: 'websocket',
      encapsulation: 'none',
      external_host: 'media_gw',
    };
    const dead = stage.id('dead');
    await stage.ask('POST', 'channels/externalMedia', { ...external, channelId: dead });
    await stage.event('ChannelDestroyed', dead);
    await stage.mediaServer(port);
    const leg = stage.id('leg');
    await stage.ask('POST', 'channels/externalMedia', { ...external, channelId: leg });
    await stage.event('StasisStart', leg);
    await stage.place.pause(100);
    await stage.ask('DELETE', `channels/${leg}`);
    await stage.event('ChannelDestroyed', leg);
  },
};

const externalMediaRefusals = [
  'format=ulaw',
  'format=ulaw&transport=websocket',
  'format=ulaw&transport=websocket&encapsulation=none',
  'format=bogus&transport=websocket&encapsulation=none&connection_type=server',
  'format=ulaw&transport=websocket&encapsulation=none&external_host=nope',
  'format=ulaw&transport=tcp&encapsulation=audiosocket&external_host=127.0.0.1:1',
  'format=slin&transport=tcp&encapsulation=audiosocket&external_host=127.0.0.1:1&data=abc',
  'format=slin&transport=foo&external_host=127.0.0.1:1',
  'format=slin&encapsulation=foo&external_host=127.0.0.1:1',
  'format=ulaw&transport=websocket&encapsulation=none&connection_type=server&direction=up',
  'format=ulaw&transport=websocket&encapsulation=none&connection_type=server&transport_data=c(nope)',
  'format=ulaw&external_host=127.0.0.1',
];

const rest: Record<string, Scenario> = {
  'refused-media': async (stage) => {
    for (const query of externalMediaRefusals) {
      const asked = Object.fromEntries(new URLSearchParams(query));
      await stage.ask('POST', 'channels/externalMedia', { app: stage.app, ...asked });
    }
  },
  'refused-requests': async (stage) => {
    const id = await stage.dial('Local/instant@out-dest/n');
    await stage.event('StasisStart', id);
    await stage.dial('Local/instant@out-dest/n');
    const bridge = stage.id('bridge');
    for (const [method = '', path = '', search = ''] of refused(id, bridge)) {
      await stage.ask(method, path, Object.fromEntries(new URLSearchParams(search)));
    }
    await stage.ask('DELETE', `channels/${id}`);
    await stage.event('ChannelDestroyed', `${id};2`);
  },
  'event-filter': async (stage) => {
    const path = `applications/${stage.app}`;
    await stage.ask('GET', path);
    const disallowed = [{ type: 'ChannelVarset' }, { type: 'ChannelDialplan' }];
    await stage.ask('PUT', `${path}/eventFilter`, {}, { disallowed });
    await stage.ask('PUT', `${path}/eventFilter`, {}, { allowed: 'x' });
    await stage.ask('PUT', 'applications/none-such/eventFilter', {}, {});
    await stage.ask('POST', `${path}/subscription`, { eventSource: 'channel:nope' });
    const id = await stage.dial('PJSIP/busynow@loop');
    await stage.event('ChannelDestroyed', id);
  },
  'application-replaced': (stage) => stage.replaced(),
  'user-events': async (stage) => {
    const application = stage.app;
    await stage.ask('POST', 'events/user/plain', { application });
    await stage.ask('POST', 'events/user/no-application');
    await stage.ask('POST', 'events/user/gone', { application: `${application}-none` });
    await stage.ask('POST', 'events/user/lost', { application, source: 'channel:nope' });
    await stage.ask('POST', 'events/user/odd', { application, source: 'fish:nope' });
    const variables = { colour: 'red' };
    await stage.ask('POST', 'events/user/more', { application }, { variables });
    const id = await stage.dial('Local/instant@out-dest/n');
    await stage.event('StasisStart', id);
    await stage.ask('POST', 'events/user/about', { application, source: `channel:${id}` });
    await stage.event('ChannelUserevent', id);
    await stage.ask('DELETE', `channels/${id}`);
    await stage.event('ChannelDestroyed', `${id};2`);
  },
};

function refused(id: string, bridge: string): string[][] {
  return [
    ['POST', 'channels', 'endpoint=Local'],
    ['POST', 'channels', 'app=x'],
    ['POST', 'channels', 'endpoint=Local/instant@out-dest'],
    ['POST', `channels/${id}/dtmf`],
    ['POST', `channels/${id}/moh`],
    ['DELETE', `channels/${id}/moh`],
    ['POST', `channels/${id}/hold`],
    ['POST', `channels/${id}/ring`],
    ['GET', `channels/${id}/variable`, 'variable=FOO'],
    ['POST', `channels/${id}/variable`, 'variable=FOO&value=1'],
    ['GET', `channels/${id}/variable`, 'variable=FOO'],
    ['GET', `channels/${id}/variable`],
    ['GET', `channels/${id}/variables`, 'variables=FOO,BAR'],
    ['GET', `channels/${id}/variables`, 'variables=FOO'],
    ['GET', `channels/${id}/rtp_statistics`],
    ['POST', `channels/${id}/nosuchop`],
    ['POST', `channels/${id}/dial`],
    ['POST', `channels/${id}/redirect`],
    ['GET', 'nosuch'],
    ['PUT', 'channels'],
    ['POST', 'bridges/none/addChannel', `channel=${id}`],
    ['POST', 'bridges', `type=bogus&bridgeId=${bridge}`],
    ['POST', 'bridges', `type=mixing&bridgeId=${bridge}`],
    ['POST', 'bridges', `type=mixing&bridgeId=${bridge}`],
    ['POST', `bridges/${bridge}/addChannel`],
    ['POST', `bridges/${bridge}/addChannel`, 'channel=nope'],
    ['POST', `bridges/${bridge}/removeChannel`, 'channel=nope'],
    ['DELETE', `bridges/${bridge}/moh`],
    ['DELETE', `bridges/${bridge}`],
    ['GET', 'asterisk/modules/chan_x.so'],
    ['GET', 'asterisk/modules/chan_websocket.so'],
  ];
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  ...callsOut,
  ...callsIn,
  ...media,
  ...rest,
};
