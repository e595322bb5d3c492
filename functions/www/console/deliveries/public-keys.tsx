/* The public keys that verify the Ed25519 signatures of a webhook. */

import type { Webhook } from "../../api/types";
import { FormSection } from "../admin/detail-header";
import { fullTime } from "../../ui/time";
import { CopyField } from "../admin/secret";
import { t } from "../../texts/translate";

export function PublicKeys({ keys }: { keys: Webhook["public_keys"] }) {
  if (keys.length === 0) return null;
  return (
    <FormSection title={t`Public keys`}>
      <p class="quiet-text">
        {t`They verify the signatures v1a (Ed25519, Standard Webhooks), and are not secret. A new signing secret comes with a new key.`}
      </p>
      {[...keys].reverse().map(({ public_key, valid_until }) => (
        <CopyField key={public_key} label={labelOf(valid_until)} name={t`the public key`} text={public_key} />
      ))}
    </FormSection>
  );
}

function labelOf(validUntil: number | null): string {
  return validUntil === null ? t`Current key` : t`Until ${fullTime(validUntil)}`;
}
