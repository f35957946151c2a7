import { filled } from './filled.ts';
import { texts } from './texts.ts';

/** A parameter that a scene declares, as far as a form needs it. */
export interface DeclaredParam {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'any';
  default: unknown;
  label: string | null;
  minimum: number | null;
  maximum: number | null;
  choices: unknown[] | null;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type Values = Record<string, unknown>;

/** A form of the parameters that the scenes of the code declare. Values that equal the defaults are not sent. */
export class ParamsForm {
  readonly #place: HTMLElement;
  readonly #fields: HTMLElement;
  /** What the form of the page sends. */
  readonly #sent: HTMLInputElement;
  readonly #code: HTMLTextAreaElement;
  readonly #onChange: () => void;
  #declared: readonly DeclaredParam[] = [];
  /** What was given, also for parameters that the code does not declare at present. */
  #given: Values;

  constructor(form: HTMLFormElement, onChange: () => void) {
    this.#place = form.querySelector('#params') as HTMLElement;
    this.#fields = this.#place.querySelector('.fields') as HTMLElement;
    this.#sent = form.querySelector('input[name=params]') as HTMLInputElement;
    this.#code = form.querySelector('textarea[name=code]') as HTMLTextAreaElement;
    this.#given = valuesIn(this.#sent.value);
    this.#onChange = onChange;
  }

  /** JSON; empty: none are given. */
  get text(): string {
    return this.#sent.value;
  }

  /** Replaces all values. */
  set text(text: string) {
    this.#given = valuesIn(text);
    this.#draw();
    this.#send();
  }

  /** What the code declares; nothing changes while it declares the same. */
  show(declared: readonly DeclaredParam[]): void {
    if (JSON.stringify(declared) === JSON.stringify(this.#declared)) return;
    this.#declared = declared;
    this.#draw();
    this.#send();
  }

  /** Shows what an answer of the server says that the code declares, unless the code has changed meanwhile. */
  async read(asked: Promise<Response | undefined>): Promise<void> {
    const code = this.#code.value;
    const answer = await asked;
    const found = answer?.ok && !answer.redirected ? await answer.json().catch(() => ({})) : {};
    if (this.#code.value === code) this.show((found as { params?: DeclaredParam[] }).params ?? []);
  }

  #draw(): void {
    const focused = (document.activeElement as HTMLElement | null)?.id;
    this.#fields.replaceChildren(...this.#declared.map((param) => this.#fieldOf(param)));
    this.#place.hidden = this.#declared.length === 0;
    if (focused?.startsWith('param-')) document.getElementById(focused)?.focus();
  }

  #fieldOf(param: DeclaredParam): HTMLElement {
    const { name, label } = param;
    const control = controlOf(param, Object.hasOwn(this.#given, name) ? this.#given[name] : param.default);
    control.id = `param-${name}`;
    control.addEventListener('input', () => this.#take(param, control));
    const field = document.createElement('label');
    const hint = document.createElement('span');
    hint.className = 'hint';
    hint.textContent = [label === null ? '' : name, rulesOf(param)].filter((text) => text !== '').join(', ');
    if (param.type === 'boolean' && !param.choices) {
      field.className = 'check';
      field.append(control, label ?? name, ' ', hint);
    } else field.append(titled(label ?? name, hint), control);
    return field;
  }

  #take(param: DeclaredParam, control: Control): void {
    const { name } = param;
    const value = typed(param, control);
    control.setCustomValidity(value === undefined ? texts().noJson : '');
    if (value === undefined) return;
    if (isEqual(value, param.default)) delete this.#given[name];
    else this.#given[name] = value;
    this.#send();
    this.#onChange();
  }

  #send(): void {
    const names = this.#declared.map(({ name }) => name);
    // Until it is known what the code declares, all that were given are sent.
    const values = Object.entries(this.#given).filter(([name]) => names.length === 0 || names.includes(name));
    this.#sent.value = values.length === 0 ? '' : JSON.stringify(Object.fromEntries(values));
  }
}

function titled(title: string, hint: HTMLElement): HTMLElement {
  const text = document.createElement('span');
  text.append(title, ' ', hint);
  return text;
}

function controlOf({ type, minimum, maximum, choices }: DeclaredParam, value: unknown): Control {
  if (choices) {
    const select = document.createElement('select');
    select.append(...choices.map((choice) => new Option(textOf(choice), JSON.stringify(choice))));
    select.value = JSON.stringify(value);
    return select;
  }
  if (type === 'array' || type === 'object' || type === 'any') {
    const area = document.createElement('textarea');
    area.rows = 1;
    area.className = 'mono';
    area.spellcheck = false;
    area.value = value === null ? '' : JSON.stringify(value);
    return area;
  }
  const input = document.createElement('input');
  input.autocomplete = 'off';
  if (type === 'boolean') {
    input.type = 'checkbox';
    input.checked = value === true;
    return input;
  }
  if (type === 'string') {
    input.value = value === null ? '' : String(value);
    return input;
  }
  input.type = 'number';
  input.step = type === 'integer' ? '1' : 'any';
  if (minimum !== null) input.min = String(minimum);
  if (maximum !== null) input.max = String(maximum);
  input.value = value === null ? '' : String(value);
  return input;
}

/** Undefined: the text is none. An empty one of a parameter without a default stands for none. */
function typed(param: DeclaredParam, control: Control): unknown {
  const { type, choices } = param;
  if (control instanceof HTMLInputElement && control.type === 'checkbox') return control.checked;
  if (type === 'string' && !choices)
    return control.value === '' ? (param.default === null ? null : '') : control.value;
  if (control.value.trim() === '') return param.default;
  try {
    const value: unknown = JSON.parse(control.value);
    if (type === 'array' && !Array.isArray(value)) return undefined;
    if (type === 'object' && (typeof value !== 'object' || value === null || Array.isArray(value)))
      return undefined;
    return value;
  } catch {
    return undefined;
  }
}

function rulesOf({ type, minimum, maximum, choices }: DeclaredParam): string {
  if (choices) return '';
  const { characters, items, between, atLeast, atMost } = texts();
  const unit = type === 'string' ? characters : type === 'array' || type === 'object' ? items : '';
  if (minimum !== null && maximum !== null) return filled(between, { minimum, maximum, unit });
  if (minimum !== null) return filled(atLeast, { minimum, unit });
  if (maximum !== null) return filled(atMost, { maximum, unit });
  return type === 'array' || type === 'object' || type === 'any' ? 'JSON' : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function valuesIn(text: string): Values {
  try {
    const values: unknown = JSON.parse(text || '{}');
    return typeof values === 'object' && values !== null ? { ...values } : {};
  } catch {
    return {};
  }
}
