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
  /** Hides the secret part of a value. */
  shown?: (value: string) => string;
}
