// The states of a webhook delivery.

export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'dead_letter'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];
