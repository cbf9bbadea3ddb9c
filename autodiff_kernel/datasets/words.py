"""Words, names and sentences for lessons on characters and language: lists of our own making."""

import numpy as np

_WORDS = """
able acorn actor after again agree air alone along amber angle apple april arch area arm arrow ash aunt autumn axis
baker ball bamboo banana band barn basket bath beach bean bear bell bench berry bird blade blanket blue board boat
bone book boot bottle bowl box branch brass bread brick bridge bright broom brother brown brush bubble bucket butter
button cabin cactus camel candle canoe card carpet carrot castle cat cave cedar chain chair chalk cheese cherry chest
child circle city clay clock cloud clover coal coast coat coin comet copper coral corner cotton cow crane crown cup
curtain dancer dawn deer desert desk diamond dinner dog door dragon drum duck dune eagle early earth east echo egg
elbow elm evening fable falcon farm feather fence fern field fig finger fire fish flag flame flower flute fog forest
fork fountain fox friend frog frost garden gate ginger glass globe glove goat gold goose grain grape grass green grove
guitar hammer harbor harp hat hawk hazel heart hedge hill honey horse house ice ink iris iron island ivory ivy jacket
jar jewel jungle kettle key kitchen kite kitten knot ladder lake lamp lantern larch lemon letter light lily lion
lizard maple marble market meadow melon milk mill mint mirror moon moss mountain mouse music needle nest night north
nut oak oar ocean olive onion orange otter owl page paint palm panda paper park path peach pear pearl pebble pencil
pepper piano pine planet plate plum pocket pond poppy potato puzzle quartz queen quilt rabbit rain raven reed ribbon
rice ring river robin rock roof root rope rose sail salt sand school sea seed shadow shell ship shoe silk silver
sister sky snail snow soap song south spider spoon spring star stone storm straw sugar summer sun swan table tailor
tea thread thunder tiger toad tower train tree tulip turtle valley velvet village violet violin voice wagon walnut
water wave wheat wheel whistle willow wind window winter wolf wood wool yard yellow zebra
"""

_NAMES = {
    "Arabic": "Abdallah Amin Aziz Bashir Darwish Farouk Habib Haddad Hamdan Hassan Jaber Kanaan Karim Khalil "
    "Mansour Nasser Qasim Rahman Saleh Shamoun Tahan Yasin Zaki Zaman",
    "Chinese": "Bai Cao Chen Deng Fang Feng Gao Guo Han Huang Jiang Liang Lin Liu Luo Pan Qian Shen Song Wang Xiong "
    "Yang Zhang Zhou",
    "English": "Ashby Barker Bradley Carter Clifton Dawson Eastwood Fletcher Garland Hartley Holmes Kingsley "
    "Langford Marlow Norton Oakley Parker Radcliffe Stanton Thornhill Underwood Walker Whitfield Wright",
    "French": "Arnaud Beaumont Bertrand Boucher Chevalier Delacroix Dubois Dupont Fontaine Fournier Gauthier Girard "
    "Lacroix Lambert Leclerc Lemaire Marchand Moreau Perrault Renaud Rousseau Simonet Thibault Villeneuve",
    "German": "Adler Baumann Bergmann Dietrich Eberhardt Fischer Friedrich Grünwald Hartmann Hoffmann Kaufmann "
    "Keller Köhler Lehmann Müller Neumann Richter Schäfer Schneider Schwarz Steiner Vogel Weber "
    "Zimmermann",
    "Greek": "Alexopoulos Angelidis Christakos Dimitriou Doukas Economou Fotiadis Galanis Georgiou Iliadis Kallas "
    "Katsaros Lambrakis Makris Nikolaidis Pappas Petrakis Rallis Samaras Stavros Theodorou Vasilakis "
    "Xenakis Zografos",
    "Irish": "Brannigan Brennan Callahan Cassidy Connolly Doherty Donovan Finnegan Flanagan Gallagher Kavanagh "
    "Kearney Kelly Mahoney McBride McCarthy Mulligan Murphy O'Brien O'Connor O'Neill Quinlan Rafferty "
    "Sweeney",
    "Italian": "Agnelli Bianchi Bellini Caruso Colombo Donati Esposito Ferrari Fontana Gallo Greco Lombardi Mancini "
    "Marino Moretti Pellegrini Ricci Rinaldi Romano Rossi Santoro Tomasi Valentini Vitale",
    "Japanese": "Akiyama Fujimoto Hasegawa Hayashi Ikeda Inoue Ishikawa Kimura Kobayashi Matsuda Mori Nakamura "
    "Nishimura Ogawa Okada Saito Sakamoto Shimizu Suzuki Takahashi Tanaka Ueda Watanabe Yamamoto",
    "Polish": "Adamski Baran Borkowski Czarnecki Dudek Gorski Jankowski Kaminski Kowalczyk Kowalski Krawczyk "
    "Lewandowski Majewski Nowak Olszewski Pawlak Piotrowski Sadowski Sikora Sobczak Szymanski Wieczorek "
    "Wojcik Zielinski",
    "Portuguese": "Almeida Araujo Barbosa Cardoso Carvalho Coelho Correia Esteves Fernandes Ferreira Gouveia Lopes "
    "Magalhaes Martins Mendes Moreira Nogueira Oliveira Pereira Pinheiro Ribeiro Silva Teixeira Vieira",
    "Russian": "Abramov Belov Bogdanov Chernov Dmitriev Fedorov Golubev Ivanov Kuznetsov Lebedev Mikhailov Morozov "
    "Nikitin Orlov Pavlov Petrov Romanov Semenov Smirnov Sokolov Tarasov Vasiliev Volkov Zaitsev",
}  # fmt: skip

# Sentences: who does what with what, and where or when
_PARTS = (
    "the baker|a sailor|my sister|the old farmer|a young painter|the teacher|our neighbour|the miller",
    "finds|paints|carries|sells|forgets|remembers|builds|follows",
    "a red boat|the silver key|an empty basket|the garden gate|a small drum|two lemons|the winter coat|a paper kite",
    "by the river|in the morning|under the bridge|after the storm|near the market|at night|behind the mill|in spring",
)


def words() -> list[str]:
    """Common English words in alphabetical order, all of letters a to z.

    >>> from autodiff_kernel import datasets
    >>> datasets.words()[:3], len(datasets.words()) > 300
    (['able', 'acorn', 'actor'], True)
    """
    return sorted(set(_WORDS.split()))


def names() -> dict[str, list[str]]:
    """Family names by language, for telling the language of a name and for making up new ones.

    >>> from autodiff_kernel import datasets
    >>> len(datasets.names()), datasets.names()["Italian"][:2]
    (12, ['Agnelli', 'Bianchi'])
    """
    return {language: text.split() for language, text in _NAMES.items()}


def sentences(n: int = 200, seed: int = 0) -> list[str]:
    """Sentences of a tiny language (who, does, what, where), for language models; the same for the same seed.

    >>> from autodiff_kernel import datasets
    >>> datasets.sentences(2) == datasets.sentences(2), len(datasets.sentences(2)[0].split()) >= 6
    (True, True)
    """
    rng = np.random.RandomState(seed)
    parts = [part.split("|") for part in _PARTS]
    return [" ".join(part[rng.randint(len(part))] for part in parts) for _ in range(n)]
