import { de } from '../texts/de';
import { en, type Texts } from '../texts/en';
import * as german from '../texts/service-de';
import type { Sentence } from './types';

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const ALL: Record<Language, Texts> = { en, de };
const STORED = 'taxosphere.language';

function preferred(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'de') return stored;
  return navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en';
}

class Preference {
  language = $state<Language>(preferred());

  set(language: Language): void {
    this.language = language;
    localStorage.setItem(STORED, language);
    document.documentElement.lang = language;
  }
}

export const preference = new Preference();
document.documentElement.lang = preference.language;

export function texts(): Texts {
  return ALL[preference.language];
}

/** A sentence of the service in the language of the page; what is not known there stays English. */
export function said(english: string, conflict = ''): string {
  if (preference.language === 'en') return english;
  const numbers: string[] = [];
  const key = english.replace(/\d[\d,]*/g, (digits) => {
    numbers.push(Number(digits.replaceAll(',', '')).toLocaleString(preference.language));
    return '{}';
  });
  const sentence = german.sentences[english] ?? german.sentences[key] ?? german.conflicts[conflict] ?? english;
  return sentence === english ? english : sentence.replace(/\{\}/g, () => numbers.shift() ?? '');
}

/** Why a parent is suggested, in the language of the page. */
export function reason(sentence: Sentence, parent: string): string {
  const phrase = preference.language === 'de' ? german.reasons[sentence.code ?? ''] : undefined;
  return phrase ? phrase({ ...sentence.values, parent }) : sentence.text;
}

/** What `make` returns for the language and a key, made once: the browser needs long to make a formatter. */
function kept<Value>(make: (language: Language, key: number) => Value): (key: number) => Value {
  const made = new Map<string, Value>();
  return (key) => {
    const name = `${preference.language} ${key}`;
    const value = made.get(name) ?? make(preference.language, key);
    made.set(name, value);
    return value;
  };
}

const numbers = kept((language, digits) => new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: digits }));
const moments = kept((language, withDay) => new Intl.DateTimeFormat(language, { ...(withDay && { day: 'numeric', month: 'short' }), hour: '2-digit', minute: '2-digit' }));

export function number(value: number, digits = 0): string {
  return numbers(digits).format(value);
}

/** A probability as people read it: whole percents, rounded down, because 89.6 % is left out where 90 % is asked for. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  const whole = Math.floor(value * 100 + 1e-9); // 0.29 * 100 is a little less than 29
  return whole === 0 && value > 0 ? '< 1 %' : `${whole} %`;
}

export function time(at: string | Date): string {
  const date = typeof at === 'string' ? new Date(at) : at;
  const today = new Date();
  const sameDay = today.getDate() === date.getDate() && Math.abs(today.getTime() - date.getTime()) < 86_400_000;
  return moments(sameDay ? 0 : 1).format(date);
}
