// What the gateway shows to the services of a load measurement.

export const SERVICE_KEY = 'load-service-key';
