// Where the bucket of the files is, and with which key.

export interface S3Settings {
  /** Where the gateway reaches S3: `https://s3.example.com`, without a path. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** Where clients reach S3. Undefined: they do not, and the gateway passes all bytes on. */
  publicEndpoint: string | undefined;
  /** Whether the bucket stands in the path, not in the host name. */
  isPathStyle: boolean;
}
