import { useEffect, useState } from "preact/hooks";
import type { AgentMessage, FileType } from "../../api/types";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { SelectField, TextAreaField, TextField, URL_INPUT } from "../../ui/form-fields";
import { useWorkspace } from "../workspace-context";
import { closeOverlay } from "../state/list/view-state";
import { fileNameFromUrl, fileTypeFromUrl, parseFileSize } from "./file-metadata";
import { MAX_TEXT_CHARACTERS } from "./composer-text";
import { language, t } from "../../texts/translate";

const TYPE_NAMES: Record<FileType, string> = {
  photo: t`Photo`,
  video: t`Video`,
  audio: t`Audio`,
  voice: t`Voice message`,
  sticker: t`Sticker`,
  document: t`Document`,
};

const TYPES = Object.entries(TYPE_NAMES).map(([value, label]) => ({ value: value as FileType, label }));

export function FileDialog({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const [address, setAddress] = useState("");
  const [type, setType] = useState<FileType>();
  const [name, setName] = useState<string>();
  const [size, setSize] = useState("");
  const [text, setText] = useState("");
  const [hasSubmitted, setSubmitted] = useState(false);

  const trimmedUrl = address.trim();
  const isWebUrl = /^https?:\/\/[^\s/]+/i.test(trimmedUrl) && trimmedUrl.length <= 4096 && URL.canParse(trimmedUrl);
  const kind = type ?? fileTypeFromUrl(trimmedUrl);
  const fileName = name ?? fileNameFromUrl(trimmedUrl);
  const bytes = parseFileSize(size);
  const isImage = kind === "photo" || kind === "sticker";
  const imageSize = useImageSize(isWebUrl && isImage ? trimmedUrl : undefined);

  const problems = {
    address: isWebUrl ? undefined : t`Enter an address that starts with https:// or http://`,
    name: fileName.trim() === "" || fileName.length > 1000 ? t`Enter a file name` : undefined,
    size: bytes === undefined ? t`Enter a size such as 840 kB or 1.2 MB` : undefined,
    text:
      text.length > MAX_TEXT_CHARACTERS
        ? t`At most ${MAX_TEXT_CHARACTERS.toLocaleString(language)} characters`
        : undefined,
  };
  const isValid = Object.values(problems).every((problem) => problem === undefined);
  const field = (name: keyof typeof problems, label: string) => ({
    id: `file-${name}`,
    label,
    problem: hasSubmitted ? problems[name] : undefined,
  });

  const send = (event: Event) => {
    event.preventDefault();
    setSubmitted(true);
    if (!isValid || bytes === undefined) return;
    const body: AgentMessage = {
      type: kind,
      file: trimmedUrl,
      file_name: fileName.trim(),
      file_size: bytes,
      ...(text.trim() === "" ? {} : { text: text.trim() }),
      ...(imageSize ?? {}),
    };
    workspace.outbox.add(chatId, { kind: "message", body });
    closeOverlay();
  };

  return (
    <Dialog title={t`Send a link to a file`} onClose={closeOverlay}>
      <form class="body scroll" onSubmit={send} noValidate>
        <TextField
          {...field("address", t`Address of the file`)}
          value={address}
          onInput={setAddress}
          input={{ ...URL_INPUT, "data-autofocus": true, placeholder: "https://" }}
        />
        <div class="two-fields">
          <SelectField id="file-type" label={t`Type`} value={kind} options={TYPES} onChange={setType} />
          <TextField {...field("size", t`Size`)} value={size} onInput={setSize} input={{ placeholder: t`1.2 MB` }} />
        </div>
        <TextField {...field("name", t`File name`)} value={fileName} onInput={setName} input={{ dir: "auto" }} />
        <TextAreaField
          {...field("text", t`Caption (optional)`)}
          value={text}
          onInput={setText}
          area={{ rows: 2, dir: "auto" }}
        />
        {imageSize !== undefined && (
          <p class="field">
            <span class="help">{t`The image has ${imageSize.width} × ${imageSize.height} pixels.`}</span>
          </p>
        )}
        <SubmitButtons label={t`Send`} onCancel={closeOverlay} />
      </form>
    </Dialog>
  );
}

/** Reads an image's width and height, so that the visitor's page can reserve space for it. */
function useImageSize(url: string | undefined) {
  const [size, setSize] = useState<{ width: number; height: number }>();
  useEffect(() => {
    setSize(undefined);
    if (url === undefined) return;
    const image = new Image();
    image.referrerPolicy = "no-referrer";
    image.onload = () => image.naturalWidth > 0 && setSize({ width: image.naturalWidth, height: image.naturalHeight });
    image.src = url;
    return () => {
      image.onload = null;
      image.src = "";
    };
  }, [url]);
  return size;
}
