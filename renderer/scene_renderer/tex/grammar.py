"""Which documents LaTeX typesets identically each time: those that consist only of what is listed here.

The lists contain nothing that defines commands, builds their names, reads or writes files, or reads the clock
or random numbers. So such a document has no effect on another one that is compiled after it.
"""

import re

from .server import BEGIN

_LENGTH_MAX = 32_768

# They define signs, fonts and how something is set, and nothing that depends on files of a scene.
_PACKAGES = """
    amsbsy amsfonts amsmath amsopn amssymb amstext amsthm array arev babel bbm bbold bm booktabs braket
    calligra cancel charter cmbright color concmath courier dsfont esint esvect eucal eufrak euler eulervm
    extarrows fontenc fourier gensymb helvet inputenc kpfonts latexsym libertine lmodern mathabx mathdots
    mathpazo mathptmx mathrsfs mathtools microtype multirow newpxmath newpxtext newtxmath newtxtext nicefrac
    palatino physics pifont ragged2e relsize setspace slashed stmaryrd tgadventor tgbonum tgcursor tgheros
    tgpagella tgschola tgtermes textcomp times tipa txfonts ulem units upgreek utopia wasysym xcolor xfrac
"""
_ENVIRONMENTS = """
    Bmatrix Bmatrix* Vmatrix Vmatrix* align align* alignat alignat* aligned alignedat array bmatrix bmatrix*
    cases cases* center dcases dcases* description displaymath document enumerate equation equation* flalign
    flalign* flushleft flushright gather gather* gathered itemize math matrix matrix* minipage multline
    multline* multlined pmatrix pmatrix* quotation quote rcases smallmatrix split subarray tabular tabular*
    verse vmatrix vmatrix*
"""
_TEXT = """
    AA AE DH DJ L NG O OE P S SS TH TeX LaTeX LaTeXe aa ae dh dj l ng o oe ss th i j b c d k r t u v H G Huge
    LARGE Large huge large normalsize small footnotesize scriptsize tiny smaller larger bfseries itshape
    mdseries rmfamily scshape sffamily slshape ttfamily upshape normalfont em bf it rm sc sf sl tt emph
    textbf textit textmd textnormal textrm textsc textsf textsl texttt textup textsuperscript textsubscript
    underline uline uuline uwave sout xout text mbox fbox hbox makebox framebox parbox raisebox rule color
    textcolor colorbox fcolorbox centering raggedleft raggedright justifying Centering RaggedLeft RaggedRight
    justify noindent indent par newline linebreak nolinebreak hspace vspace hfill vfill hfil vfil smallskip
    medskip bigskip enspace enskip quad qquad thinspace negthinspace medspace thickspace negmedspace
    negthickspace strut null phantom hphantom vphantom smash mathstrut item hline cline multicolumn multirow
    toprule midrule bottomrule cmidrule arraystretch ldots dots textellipsis textendash textemdash
    textbackslash textbar textless textgreater textasciitilde textasciicircum textunderscore textbraceleft
    textbraceright textdegree textmu textbullet textperiodcentered textquoteleft textquoteright
    textquotedblleft textquotedblright textquotedbl textdollar textsterling texteuro texteuro textyen
    textcent textcopyright textregistered texttrademark textonehalf textonequarter textthreequarters textpm
    texttimes textdiv textdagger textdaggerdbl textsection textparagraph dag ddag copyright pounds euro
    textipa textcalligra calligra guillemotleft guillemotright glqq grqq singlespacing onehalfspacing
    doublespacing celsius degree ohm micro perthousand ding
"""
# How a formula is set.
_SETTING = """
    displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits displaylimits left right middle big
    Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm mathbb mathbbm mathbf
    mathcal mathds mathfrak mathit mathnormal mathrm mathscr mathsf mathtt mathbin mathclose mathop mathopen
    mathord mathpunct mathrel mathinner boldmath unboldmath boldsymbol bm pmb operatorname
    operatornamewithlimits ensuremath mathchoice frac cfrac dfrac tfrac genfrac binom dbinom tbinom choose
    over atop brace brack sqrt root leftroot uproot sfrac nicefrac overset underset overunderset stackrel
    stackbin sideset substack boxed cancel bcancel xcancel cancelto overbrace underbrace overbracket
    underbracket overline overleftarrow overrightarrow overleftrightarrow underleftarrow underrightarrow
    underleftrightarrow xleftarrow xrightarrow xleftrightarrow xRightarrow xLeftarrow xLeftrightarrow xmapsto
    xhookleftarrow xhookrightarrow xlongequal acute bar breve check dddot ddddot ddot dot grave hat mathring
    tilde vec widehat widetilde widecheck vv imath jmath not slashed mathllap mathrlap mathclap llap rlap
    clap mod bmod pmod pod tag notag nonumber intertext shortintertext hdotsfor displaybreak prescript
    coloneqq eqqcolon coloneq eqcolon vcentcolon dblcolon shoveleft shoveright nobreak allowbreak nobreakdash
    mskip mkern kern cr crcr noalign hskip
"""
# Operators.
_OPERATORS = """
    Pr arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf injlim ker lg lim liminf
    limsup ln log max min projlim sec sin sinh sup tan tanh varinjlim varliminf varlimsup varprojlim amalg
    ast star bigcap bigcup bigodot bigoplus bigotimes bigsqcup biguplus bigvee bigwedge coprod int iint iiint
    iiiint idotsint oint oiint oiiint ointctrclockwise varointclockwise fint sqint landupint prod sum intop
    ointop smallint
"""
# Signs of LaTeX.
_SIGNS = """
    Alpha Beta Epsilon Zeta Eta Iota Kappa Mu Nu Omicron Rho Tau Chi Delta Gamma Lambda Omega Phi Pi Psi
    Sigma Theta Upsilon Xi alpha beta chi delta epsilon eta gamma iota kappa lambda mu nu omega omicron phi
    pi psi rho sigma tau theta upsilon varepsilon varphi varpi varrho varsigma vartheta xi zeta varDelta
    varGamma varLambda varOmega varPhi varPi varPsi varSigma varTheta varUpsilon varXi upalpha upbeta upgamma
    updelta upepsilon upmu uppi upsigma uptau upphi upomega uprho uptheta uplambda Im Re aleph wp ell hbar
    partial nabla infty emptyset forall exists neg lnot top bot angle triangle backslash prime surd flat
    natural sharp clubsuit diamondsuit heartsuit spadesuit Arrowvert Vert arrowvert bracevert lVert lvert
    rVert rvert vert mid parallel langle rangle lbrace rbrace lbrack rbrack lceil rceil lfloor rfloor lgroup
    rgroup lmoustache rmoustache colon ldotp cdotp cdot cdots ddots vdots iddots adots dotsb dotsc dotsi
    dotsm dotso approx asymp bigcirc bigtriangledown bigtriangleup bowtie bullet cap circ cong cup dagger
    dashv ddagger diamond div doteq equiv frown ge geq gg in le leq ll land lor models mp ne neq ni notin
    odot ominus oplus oslash otimes owns perp pm prec preceq propto setminus sim simeq smile sqcap sqcup
    sqsubset sqsubseteq sqsupset sqsupseteq subset subseteq succ succeq supset supseteq times to triangleleft
    triangleright uplus vdash vee wedge wr lhd rhd unlhd unrhd Join Downarrow Leftarrow Leftrightarrow
    Longleftarrow Longleftrightarrow Longrightarrow Rightarrow Uparrow Updownarrow downarrow gets
    hookleftarrow hookrightarrow iff implies impliedby leadsto leftarrow leftharpoondown leftharpoonup
    leftrightarrow longleftarrow longleftrightarrow longmapsto longrightarrow mapsto nearrow nwarrow
    rightarrow rightharpoondown rightharpoonup rightleftharpoons searrow swarrow uparrow updownarrow
"""
# Signs of the American Mathematical Society.
_AMS_SIGNS = """
    Bbbk Box Bumpeq Cap Cup Diamond Doteq Finv Game Lleftarrow Lsh Rrightarrow Rsh Subset Supset Vdash Vvdash
    approxeq backepsilon backprime backsim backsimeq barwedge because beth between bigstar blacklozenge
    blacksquare blacktriangle blacktriangledown blacktriangleleft blacktriangleright boxdot boxminus boxplus
    boxtimes bumpeq centerdot checkmark circeq circlearrowleft circlearrowright circledR circledS circledast
    circledcirc circleddash complement curlyeqprec curlyeqsucc curlyvee curlywedge curvearrowleft
    curvearrowright daleth dashleftarrow dashrightarrow diagdown diagup digamma divideontimes doteqdot
    dotplus doublebarwedge doublecap doublecup downdownarrows downharpoonleft downharpoonright eqcirc eqsim
    eqslantgtr eqslantless eth fallingdotseq geqq geqslant ggg gggtr gimel gnapprox gneq gneqq gnsim
    gtrapprox gtrdot gtreqless gtreqqless gtrless gtrsim gvertneqq hslash intercal leftarrowtail
    leftleftarrows leftrightarrows leftrightharpoons leftrightsquigarrow leftthreetimes leqq leqslant
    lessapprox lessdot lesseqgtr lesseqqgtr lessgtr lesssim lll llless llcorner lrcorner lnapprox lneq lneqq
    lnsim looparrowleft looparrowright lozenge ltimes lvertneqq maltese measuredangle mho multimap nLeftarrow
    nLeftrightarrow nRightarrow nVDash nVdash ncong nexists ngeq ngeqq ngeqslant ngtr nleftarrow
    nleftrightarrow nleq nleqq nleqslant nless nmid nparallel nprec npreceq nrightarrow nshortmid
    nshortparallel nsim nsubseteq nsubseteqq nsucc nsucceq nsupseteq nsupseteqq ntriangleleft ntrianglelefteq
    ntriangleright ntrianglerighteq nvDash nvdash pitchfork precapprox preccurlyeq precnapprox precneqq
    precnsim precsim restriction rightarrowtail rightleftarrows rightrightarrows rightsquigarrow
    rightthreetimes risingdotseq rtimes shortmid shortparallel smallfrown smallsetminus smallsmile
    sphericalangle square subseteqq subsetneq subsetneqq succapprox succcurlyeq succnapprox succneqq succnsim
    succsim supseteqq supsetneq supsetneqq therefore thickapprox thicksim triangledown trianglelefteq
    triangleq trianglerighteq twoheadleftarrow twoheadrightarrow ulcorner urcorner upharpoonleft
    upharpoonright upuparrows vDash varkappa varnothing varpropto varsubsetneq varsubsetneqq varsupsetneq
    varsupsetneqq vartriangle vartriangleleft vartriangleright veebar yen llbracket rrbracket
"""
# Of the packages physics and braket.
_PHYSICS = """
    abs norm order eval comm acomm pb qty quantity vb va vu vdot cross grad gradient divergence curl
    laplacian dd dv pdv fdv derivative partialderivative bra ket braket ketbra dyad ip op ev expval mel tr Tr
    rank erf Res pv PV qq qif qand qor qthen qfor mqty pmqty bmqty vmqty smqty imat xmat zmat pmat Set Bra
    Ket Braket
"""
_PERMITTED_PACKAGES = frozenset(_PACKAGES.split())
_PERMITTED_ENVIRONMENTS = frozenset(_ENVIRONMENTS.split())
_PERMITTED_COMMANDS = frozenset(f"{_TEXT} {_SETTING} {_OPERATORS} {_SIGNS} {_AMS_SIGNS} {_PHYSICS}".split())

_OPTIONS = r"(?:\[[a-zA-Z0-9=,* .-]*\])?"
_STATEMENT = (
    rf"\\usepackage{_OPTIONS}\{{([a-zA-Z0-9, ]+)\}}"
    r"|\\linespread\{[0-9.]+\}|\\DisableLigatures\{encoding = \*, family = \* \}"
)
# Manim's document class, and packages.
_PREAMBLE = re.compile(rf"\\documentclass\[preview\]\{{standalone\}}\s+(?:(?:{_STATEMENT})\s*)*", re.ASCII)
_USED = re.compile(rf"\\usepackage{_OPTIONS}\{{([^}}]*)\}}")
# The tokens of a body that begin with a backslash: an environment with its name, a group of Manim's, others.
_TOKEN = re.compile(
    r"\\(?:begin|end)\{(?P<environment>[a-zA-Z]+\*?)\}"
    r"|\\special\{dvisvgm:raw (?P<group><g id='unique[0-9]+(?:substring)?'>|</g>)\}"
    r"|\\(?P<command>[a-zA-Z]+)"
    r"|\\(?P<sign>[ \n\x21-\x7e])"
    r"|\\"
)
# A notation for any character, and control characters.
_NOTATION = re.compile(r"\^\^|[\x00-\x08\x0b-\x1f\x7f]")


def is_repeatable(source: str) -> bool:
    """Whether a document is typeset identically each time, and does not change how others are typeset."""
    preamble, begin, body = source.partition(BEGIN)
    return (
        bool(begin)
        and len(source) <= _LENGTH_MAX
        and _NOTATION.search(source) is None
        and _PREAMBLE.fullmatch(preamble) is not None
        and all(_is_package(name) for names in _USED.findall(preamble) for name in names.split(","))
        and all(map(_is_permitted, _TOKEN.finditer(body)))
    )


def _is_package(name: str) -> bool:
    return name.strip() in _PERMITTED_PACKAGES


def _is_permitted(token: re.Match[str]) -> bool:
    environment, command = token["environment"], token["command"]
    if environment is not None:
        return environment in _PERMITTED_ENVIRONMENTS
    if command is not None:
        return command in _PERMITTED_COMMANDS
    return token["group"] is not None or token["sign"] is not None
