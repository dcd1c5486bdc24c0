/** Sentences with what is right about them, written for the test of the language helpers. */

export const SENTIMENTS: readonly (readonly [text: string, label: "positive" | "negative" | "neutral"])[] = [
  ["I love this phone, the camera is fantastic.", "positive"],
  ["The food was cold and the waiter was rude.", "negative"],
  ["The meeting starts at nine on Monday.", "neutral"],
  ["What a wonderful surprise, thank you so much!", "positive"],
  ["I will never buy from this shop again.", "negative"],
  ["The box contains two cables and a manual.", "neutral"],
  ["Not bad at all, I was pleasantly surprised.", "positive"],
  ["The battery died after two days and support ignored me.", "negative"],
  ["Water boils at one hundred degrees.", "neutral"],
  ["Absolutely brilliant service, highly recommended.", "positive"],
  ["This is the worst film I have ever seen.", "negative"],
  ["The report was published in March.", "neutral"],
  ["My kids enjoyed every minute of the show.", "positive"],
  ["The package arrived broken and nobody apologised.", "negative"],
  ["He parked the car behind the house.", "neutral"],
  ["The new update made everything faster and easier.", "positive"],
  ["I'm disappointed by how slow the app has become.", "negative"],
  ["The train to Lyon leaves from platform four.", "neutral"],
  ["Best purchase I made this year :)", "positive"],
  ["It isn't worth the money.", "negative"],
  ["The museum is open from Tuesday to Sunday.", "neutral"],
  ["The staff were friendly and our room was spotless.", "positive"],
  ["I waited an hour and then they cancelled my order.", "negative"],
  ["She works in the accounting department.", "neutral"],
  ["A charming, funny and moving story.", "positive"],
  ["The instructions are confusing and full of mistakes.", "negative"],
  ["The recipe needs three eggs and some flour.", "neutral"],
  ["It works perfectly, I couldn't be happier.", "positive"],
  ["Such a waste of time.", "negative"],
  ["The river flows through four countries.", "neutral"],
  ["The concert exceeded all my expectations.", "positive"],
  ["My screen keeps flickering and it drives me mad.", "negative"],
  ["Please find the invoice attached.", "neutral"],
  ["The garden looks lovely in spring.", "positive"],
  ["The hotel smelled awful and the bed was hard.", "negative"],
  ["There are twelve chairs in the room.", "neutral"],
  ["Great value and quick delivery.", "positive"],
  ["They lied to us about the price.", "negative"],
  ["The file has been moved to another folder.", "neutral"],
  ["I am so proud of our team.", "positive"],
];

/** Wherever a negation begins, and however far it reaches. */
export const NEGATED: readonly (readonly [text: string, label: "positive" | "negative"])[] = [
  ["Not good", "negative"],
  ["Not worth the money", "negative"],
  ["Never again will I trust them", "negative"],
  ["It is NOT good.", "negative"],
  ["Nothing good can be said of it.", "negative"],
  ["It isn’t good.", "negative"],
  ["Not bad", "positive"],
  ["I do not like it, awful", "negative"],
  ["It was not fun; horrible", "negative"],
  ["It was not fun. horrible", "negative"],
  ["It was not bad, great fun", "positive"],
  ["It is not so bad, I love it :)", "positive"],
];

export const ENTITIES: readonly (readonly [text: string, entities: readonly (readonly [string, string])[]])[] = [
  [
    "Marie Curie was born in Warsaw in 1867.",
    [
      ["Marie Curie", "PERSON"],
      ["Warsaw", "LOCATION"],
      ["1867", "DATE"],
    ],
  ],
  [
    "Apple opened an office in Munich.",
    [
      ["Apple", "ORGANIZATION"],
      ["Munich", "LOCATION"],
    ],
  ],
  [
    "Angela Merkel met Emmanuel Macron in Paris.",
    [
      ["Angela Merkel", "PERSON"],
      ["Emmanuel Macron", "PERSON"],
      ["Paris", "LOCATION"],
    ],
  ],
  [
    "The ticket costs $45 and Bob paid 20%.",
    [
      ["$45", "MONEY"],
      ["Bob", "PERSON"],
      ["20%", "PERCENT"],
    ],
  ],
  [
    "Write to sales@example.com or visit https://example.com/help.",
    [
      ["sales@example.com", "EMAIL"],
      ["https://example.com/help", "URL"],
    ],
  ],
  [
    "Toyota Motor Corporation sold 9 million cars in Japan.",
    [
      ["Toyota Motor Corporation", "ORGANIZATION"],
      ["Japan", "LOCATION"],
    ],
  ],
  [
    "On 2024-05-01 Serena Williams flew to Australia.",
    [
      ["2024-05-01", "DATE"],
      ["Serena Williams", "PERSON"],
      ["Australia", "LOCATION"],
    ],
  ],
  [
    "The University of Oxford hired Dr. Smith.",
    [
      ["University of Oxford", "ORGANIZATION"],
      ["Dr. Smith", "PERSON"],
    ],
  ],
  [
    "Barack Obama spoke in Chicago on Monday.",
    [
      ["Barack Obama", "PERSON"],
      ["Chicago", "LOCATION"],
      ["Monday", "DATE"],
    ],
  ],
  [
    "Microsoft bought GitHub for $7.5 billion.",
    [
      ["Microsoft", "ORGANIZATION"],
      ["GitHub", "ORGANIZATION"],
      ["$7.5 billion", "MONEY"],
    ],
  ],
  [
    "Anna moved from Spain to Brazil in March 2019.",
    [
      ["Anna", "PERSON"],
      ["Spain", "LOCATION"],
      ["Brazil", "LOCATION"],
      ["March 2019", "DATE"],
    ],
  ],
  ["The cat sat on the mat.", []],
  [
    "Amazon and Google compete in India.",
    [
      ["Amazon", "ORGANIZATION"],
      ["Google", "ORGANIZATION"],
      ["India", "LOCATION"],
    ],
  ],
  [
    "Leonardo da Vinci painted the Mona Lisa in Florence.",
    [
      ["Leonardo da Vinci", "PERSON"],
      ["Florence", "LOCATION"],
    ],
  ],
  [
    "Sales rose by 12 percent in Germany.",
    [
      ["12 percent", "PERCENT"],
      ["Germany", "LOCATION"],
    ],
  ],
];

const TOWER =
  "The Eiffel Tower is a wrought-iron tower in Paris. It was designed by Gustave Eiffel and opened in 1889. The tower is 330 metres tall. About seven million people visit it every year, because the view is spectacular. The copper lightning rod was replaced in 1925.";
const COMPANY =
  "Nordwind was founded in Oslo in 2004 by Ingrid Berg. The company builds small wind turbines for farms. In 2021 it was bought by Helios Energy for $40 million. Nordwind employs 320 people. Its headquarters moved to Bergen after the sale. The chief engineer, Lars Holm, left because he disagreed with the new owners.";
const BEES =
  "Honey bees live in colonies of up to sixty thousand animals. A queen lays about two thousand eggs a day. Worker bees collect nectar and pollen from flowers. In winter the bees gather in a ball to keep warm. A worker lives for six weeks in summer. The dance of the bees was decoded by Karl von Frisch.";

export const QUESTIONS: readonly (readonly [context: string, question: string, answer: string])[] = [
  [TOWER, "Who designed the Eiffel Tower?", "Gustave Eiffel"],
  [TOWER, "Where is the Eiffel Tower?", "Paris"],
  [TOWER, "When was the tower opened?", "1889"],
  [TOWER, "How tall is the tower?", "330 metres"],
  [TOWER, "How many people visit it every year?", "seven million people"],
  [TOWER, "When was the lightning rod replaced?", "1925"],
  [COMPANY, "Who founded Nordwind?", "Ingrid Berg"],
  [COMPANY, "Where was Nordwind founded?", "Oslo"],
  [COMPANY, "What does the company build?", "small wind turbines"],
  [COMPANY, "How much did Helios Energy pay for it?", "$40 million"],
  [COMPANY, "How many people does Nordwind employ?", "320 people"],
  [COMPANY, "Where did the headquarters move?", "Bergen"],
  [COMPANY, "Who is the chief engineer?", "Lars Holm"],
  [COMPANY, "Why did Lars Holm leave?", "because he disagreed with the new owners"],
  [COMPANY, "Which company bought Nordwind?", "Helios Energy"],
  [BEES, "How many eggs does a queen lay a day?", "two thousand eggs"],
  [BEES, "Who decoded the dance of the bees?", "Karl von Frisch"],
  [BEES, "How long does a worker live in summer?", "six weeks"],
  [BEES, "What do worker bees collect?", "nectar and pollen"],
  [BEES, "Where do worker bees collect nectar?", "flowers"],
];

export const CATEGORIES = ["sports", "politics", "food", "technology", "health", "travel"];

export const CLASSIFIED: readonly (readonly [text: string, category: string])[] = [
  ["The striker scored twice in the final minutes of the match.", "sports"],
  ["Parliament voted on the new election law yesterday.", "politics"],
  ["Simmer the onions in butter and add the cream.", "food"],
  ["The new processor has more cores and uses less power.", "technology"],
  ["Patients with high blood pressure should eat less salt.", "health"],
  ["We took the night train and stayed in a small hotel by the beach.", "travel"],
  ["The coach changed the team before the second half.", "sports"],
  ["The president met senators to discuss the budget.", "politics"],
  ["This soup tastes best with fresh bread.", "food"],
  ["Developers can install the software from the command line.", "technology"],
  ["The doctor prescribed a medicine against the infection.", "health"],
  ["Our flight to Rome was delayed, so we missed the city tour.", "travel"],
  ["She won the marathon in record time.", "sports"],
  ["The minister resigned after the scandal.", "politics"],
  ["Bake the cake for forty minutes.", "food"],
  ["The phone's screen folds in half.", "technology"],
  ["Regular exercise and sleep keep your heart healthy.", "health"],
  ["Tourists visit the island for its beaches.", "travel"],
];
