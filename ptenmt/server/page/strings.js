/** What the page says, in the browser's language: English, as written in the code and in index.html, or Portuguese. */

export const PORTUGUESE = {
  "Views": "Vistas",
  "Translate": "Traduzir",
  "Inside": "Por dentro",
  "History": "Histórico",
  "This page needs JavaScript, which comes from this server alone.":
    "Esta página precisa de JavaScript, que vem apenas deste servidor.",
  "This server requires an API key": "Este servidor exige uma chave de API",
  "Save key": "Guardar a chave",
  "It is kept until this tab is closed.": "É guardada só até esta página ser fechada.",
  "That key is not valid.": "Essa chave não é válida.",
  "Source": "Origem",
  "Clear": "Limpar",
  "Examples": "Exemplos",
  "Try:": "Experimente:",
  "Translate a document": "Traduzir um documento",
  "Translation": "Tradução",
  "Copy": "Copiar",
  "Copied.": "Copiado.",
  "Selected: press Ctrl+C to copy.": "Selecionado: pressione Ctrl+C para copiar.",
  "The translation appears as you type.": "A tradução aparece à medida que escreve.",
  "Press a word to see alternatives and where it comes from.":
    "Pressione uma palavra para ver alternativas e a sua origem.",
  "“Inside” shows what the model attends to as it translates.":
    "“Por dentro” mostra a que o modelo presta atenção ao traduzir.",
  "Translated documents": "Documentos traduzidos",
  "Request and response": "Pedido e resposta",
  "Keyboard": "Teclado",
  "translate at once, and go to the translation": "traduzir já e ir para a tradução",
  "in the translation, move from word to word": "na tradução, passar de palavra em palavra",
  "on a word, show alternatives for it and the rest; in that list, take one":
    "numa palavra, mostrar alternativas para ela e o resto; nessa lista, escolher uma",
  "close that list; from a word, back to the text": "fechar essa lista; de uma palavra, voltar ao texto",
  "Translate something first to see its attention weights.":
    "Traduza primeiro alguma coisa para ver os seus pesos de atenção.",
  "Sentence": "Frase",
  "Attention": "Atenção",
  "translation to source": "da tradução à origem",
  "source to itself": "da origem a si mesma",
  "translation to itself": "da tradução a si mesma",
  "Layers and heads": "Camadas e cabeças",
  "Layer {layer}": "Camada {layer}",
  "Mean": "Méd.",
  "Layer {layer}, mean of all heads": "Camada {layer}, média de todas as cabeças",
  "Layer {layer}, head {head}": "Camada {layer}, cabeça {head}",
  "Inspecting …": "Inspeção em curso …",
  "“{row}” attends to “{column}”: {share}": "“{row}” presta atenção a “{column}”: {share}",
  "“{row}” is predicted attending to “{column}”: {share}": "“{row}” é previsto com atenção a “{column}”: {share}",
  "To predict a row’s token of the translation, the decoder attends to the columns’ tokens of the source.":
    "Para prever o token da tradução de uma linha, o decodificador presta atenção aos tokens da origem nas colunas.",
  "In the encoder, a row’s token of the source attends to the columns’ tokens.":
    "No codificador, o token da origem de uma linha presta atenção aos tokens das colunas.",
  "To predict a row’s token, the decoder attends to the tokens before it, never to later ones (causal mask).":
    "Para prever o token de uma linha, o decodificador presta atenção só aos anteriores (máscara causal).",
  "Kept in this browser only.": "Guardado só neste navegador.",
  "Clear history": "Limpar histórico",
  "Remove": "Remover",
  "Remove: {text}": "Remover: {text}",
  "Nothing yet.": "Ainda não há nada.",
  "Nothing found.": "Nada encontrado.",
  "Undo": "Desfazer",
  "Search": "Pesquisar",
  "Copy link": "Copiar link",
  "The link is in the address bar.": "O link está na barra de endereço.",
  "Link copied.": "Link copiado.",
  "The server cannot be reached.": "O servidor não responde.",
  "The server cannot be reached. Trying again …": "O servidor não responde. Nova tentativa em breve …",
  "The server is busy. Trying again …": "O servidor está ocupado. Nova tentativa em breve …",
  "This looks like {language}.": "Isto parece {language}.",
  "another language": "outra língua",
  "Translate from {language}": "Traduzir do {language}",
  "Too long for this field.": "Longo demais para este campo.",
  "Translate it as a document": "Traduzir como documento",
  "{percent} likely": "probabilidade {percent}",
  "Swap languages": "Trocar as línguas",
  "From": "De",
  "To": "Para",
  "Drop to translate": "Solte para traduzir",
  "Alternatives": "Alternativas",
  "no alternatives": "sem alternativas",
  "Model {name}": "Modelo {name}",
  "{count} parameters": "{count} parâmetros",
  "trained on {count} sentence pairs": "treinado com {count} pares de frases",
  "{metric} {score} in validation": "{metric} {score} na validação",
  "data: {licences}": "dados: {licences}",
  "API for programs": "API para programas",
  "{source} to {target}": "De {source} para {target}",
  "Type or paste {source}, or drop a document": "Escreva ou cole um texto, ou solte um documento",
  "Type or paste {source}": "Escreva ou cole um texto",
  "{count} characters": "{count} caracteres",
  "{count} of {most} characters": "{count}/{most} caracteres",
  "the server answered {status}": "o servidor respondeu {status}",
  "{name}: waiting …": "{name}: em espera …",
  "{name}: translating …": "{name}: tradução em curso …",
  "download the translation": "obter a tradução",
  "only {formats} can be translated": "só é possível traduzir {formats}",
};

/** What the server may answer, and the same in Portuguese. */
const PORTUGUESE_ANSWERS = [
  [/^the text has (\S+) characters; (\S+) are allowed$/, "o texto tem $1 caracteres; são permitidos $2"],
  [/^the text has (\S+) sentences; (\S+) are allowed$/, "o texto tem $1 frases; são permitidas $2"],
  [/^the document has (\S+) characters; (\S+) are allowed$/, "o documento tem $1 caracteres; são permitidos $2"],
  [/^the document is larger than (\S+) bytes$/, "o documento tem mais de $1 bytes"],
  [/^(?:the|an) .*(?:larger than|more than|too large|too deeply|attributes|tags; ).*/, "o documento é grande demais"],
  [/^the document cannot be read.*/, "o documento não pode ser lido"],
  [/^the file is not (JSON|YAML).*/, "o ficheiro não é $1 válido"],
  [/^the file is not (\S+): byte .*/, "o ficheiro não está em $1"],
  [/^(\S+) requests a minute are allowed$/, "são permitidos $1 pedidos por minuto"],
  [/^(\S+) characters a day are allowed$/, "são permitidos $1 caracteres por dia"],
  [/^too many documents at a time$/, "demasiados documentos ao mesmo tempo"],
  [/^too busy: .*/, "o servidor está ocupado"],
  [/^not done within (\S+) seconds$/, "não ficou pronto em $1 segundos"],
  [/^the server is shutting down$/, "o servidor está a ser desligado"],
  [/^the sentence has (\S+) tokens; .* (\S+)$/, "a frase tem $1 tokens; a atenção é mostrada até $2"],
  [/^the (?:file|document|XML|subtitles|string|line) .*/, "o documento está danificado ou é de outro formato"],
  [/^no such document.*/, "o documento já não está no servidor"],
  [/^a valid (?:api_)?key is needed.*/, "é preciso uma chave de API válida"],
  [/^the request (?:is too large|came too slowly)$/, "o pedido é demasiado grande ou lento"],
  [/^internal error.*/, "erro interno do servidor"],
  [/^(.*)$/, "o servidor respondeu: $1"],
];

/** Sentences to try, by source language. */
export const EXAMPLES = {
  pt: [
    "A minha amiga comprou fruta no mercado.",
    "Este modelo parece funcionar bem.",
    "Ela não tem tempo, mas tem sono.",
  ],
  en: [
    "My friend bought fruit at the market.",
    "This model seems to work well.",
    "She has no time, but she is sleepy.",
  ],
};

/** The reader's language, such as "pt-BR": for dates and numbers, too. */
export const locale = navigator.languages.find((each) => /^(en|pt)\b/i.test(each)) ?? "en";

const strings = locale.toLowerCase().startsWith("pt") ? PORTUGUESE : {};
const languageNames = new Intl.DisplayNames([locale], { type: "language", fallback: "none" });

/** A text in the reader's language, with values in place of their {names}. */
export function say(text, values = {}) {
  return (strings[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The name of a language, for the middle of a sentence. */
export function nameOfLanguage(code) {
  return languageNames.of(code) ?? say("another language");
}

/** What the server answered, in the reader's language if it is known. */
export function sayAnswer(message) {
  const known = strings === PORTUGUESE && PORTUGUESE_ANSWERS.find(([pattern]) => pattern.test(message));
  return known ? message.replace(...known) : message;
}

/** A text with a capital at its beginning. */
export function capitalized(text) {
  return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
}

/** Put the document's texts and labels into the reader's language. */
export function localize() {
  document.documentElement.lang = strings === PORTUGUESE ? locale : "en";
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    const text = data.trim().replace(/\s+/g, " ");
    if (text in strings) texts.currentNode.data = data.replace(data.trim(), strings[text]);
  }
  for (const element of document.querySelectorAll("[aria-label]")) element.ariaLabel = say(element.ariaLabel);
}
