import type Joi from 'joi';

export interface ConfigOption {
  /** Description in `--help`. */
  description: string;
  /** Allowed values, as they follow "must be" in error messages. */
  allowed: string;
  schema: Joi.Schema;
  /** Placeholder of the value in `--help`; absent for a switch. */
  value?: string;
  /** Default as shown by `--help`, unless it is the schema's. */
  defaultText?: string;
  /** Never shown and has no flag: other processes can read command lines. */
  secret?: boolean;
  /** What is shown of a value with a secret part. */
  shown?: (value: string) => string;
}
