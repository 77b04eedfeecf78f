let printed="";console.log=console.error=(...e)=>{printed=(printed+`
`+e.join(" ")).slice(-2e3)};const died=()=>postMessage({died:printed.trim()});self.servescopeReady=()=>postMessage({ready:!0}),self.onmessage=async({data:e})=>{if(e.module){try{const s=new Go,c=await WebAssembly.instantiate(e.module,s.importObject);await s.run(c)}catch(s){printed+=`
`+s}died()}else if(e.crash)self.servescope.crash();else if(e.cancel)self.servescope.cancel(e.cancel);else{const s=(c,l)=>postMessage({id:e.id,head:c,body:l},l?[l]:[]);self.servescope.call(e.id,e.request,e.files,s)}};
