/**
 * The largest families of TeX fonts, 1.3 GB in all, that neither Manim's `TexFontTemplates` nor packages for formulas
 * and drawings use. A document that asks for one of them gets an error that says how to add it.
 */
export const UNUSED_FONT_FAMILIES: string[] = `
  aesupp alegreya algolrevived allrunes almfixed andika anonymouspro antt archivo arev arimo asana-math atkinson
  baskervaldx baskervillef berenisadf boisik cabin cantarell carlito cascadia-code cfr-lm charissil chivo cinzel
  clara clearsans cm-lgc cm-unicode cmsrb cochineal coelacanth comicneue cooperhewitt cormorantgaramond crimson
  crimsonpro cyrillic-modern dejavu domitian doulossil drm ebgaramond eco eczar ektype-tanka erewhon etbb fbb
  fetamont fira fonts-churchslavonic forum garamond-libre garamond-math gentium-sil gentium-tug gfsartemisia
  gillius gofonts heuristica hfbright hfoldsty hindmadurai ibarra imfellenglish inconsolata-nerd-font inriafonts
  inter ipaex-type1 iwona josefin junicode junicodevf kpfonts-otf kurier lato lexend libertinus-fonts
  librebaskerville librebodoni librecaslon librefranklin linguisticspro lobster2 logix lxfonts
  mathabx-type1 mdsymbol merriweather mintspirit mlmodern montserrat mpfonts newcomputermodern newpx
  nimbus15 noto nunito obnov oldstandard opensans oswald overlock playfair plex ptsans ptserif punknova
  qualitype quattrocento raleway rit-fonts roboto rosario sansmathfonts scholax schulschriften sourcecodepro
  sourcesanspro sourceserifpro spectral step stickstoo stix stix2-otf tempora theanomodern theanooldstyle tinos
  twemoji-colr txfontsb umtypewriter venturis2 venturissans venturissans2 xcharter xits ysabeau zhmetrics
  zhmetrics-uptex
`
  .trim()
  .split(/\s+/);
