//! Portuguese.

use super::Words;

pub(super) const PORTUGUESE: Words = Words {
    code: "código*, codigo*",
    one_time: "seu código, teu código, senha temporária, senha de uso único, senha única, palavra-passe \
        temporária, código de verificação",
    other: "pedido n*, pedido nº, número do pedido, encomenda*, fatura*, nota fiscal, código de barras, código \
        de rastreio, código de rastreamento, rastreio, cep, código postal, cpf, cnpj, telefone, protocolo, \
        boleto*, valor, referência, reserva*, conta nº, rua, consulta, reunião, terminado em, terminada em, \
        final",
    promotion: "cupom, desconto*, código promocional, vale-presente, promoção*, oferta*",
    verify: "verific*, verifique, confirm*, ativ*, valid*, autentic*",
    sign_in: "acess*, entrar, fazer login, faça login, iniciar sessão, link mágico",
    reset: "redefin*, recuper*, nova senha, alterar senha, esqueceu, repor a palavra-passe, repor \
        palavra-passe",
    invite: "convid*, convite*, participar, junte-se, entrar na equipe, aceitar convite",
    unsubscribe: "cancelar inscrição, cancelar a inscrição, cancelar subscrição, cancelar a subscrição, \
        descadastr*, remover inscrição, não quero receber",
    caution: "expira*, válido*, válida*, não compartilhe*, não partilhe*, ignore*, minutos, segurança",
    denial: "não solicitou, não foi você, não reconhece",
    enter: "digite*, insira*, introduza*, escreva",
    press: "aqui, clique*, este link, link abaixo, continuar, começar, seguinte link, sim",
};
